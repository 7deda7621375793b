package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Recorder makes events and keeps the metrics made from them.
type Recorder struct {
	log      *slog.Logger
	registry *prometheus.Registry
	total    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// NewRecorder makes a recorder with a registry of its own.
func NewRecorder(log *slog.Logger) *Recorder {
	r := &Recorder{
		log:      log,
		registry: prometheus.NewRegistry(),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vault_events_total",
			Help: "Requests and jobs that ended, by event, tool and outcome.",
		}, []string{"event", "tool", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "vault_event_seconds",
			Help:    "How long requests and jobs took.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 3, 10),
		}, []string{"event", "tool"}),
	}
	r.registry.MustRegister(r.total, r.seconds,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Begin starts an event and puts it into the context that handlers add to.
func (r *Recorder) Begin(ctx context.Context, name string) (context.Context, *Event) {
	e := &Event{recorder: r, name: name, started: time.Now(), outcome: "ok"}
	return context.WithValue(ctx, eventKey{}, e), e
}

// Metrics serves the metrics in Prometheus' text format.
func (r *Recorder) Metrics() http.Handler {
	return promhttp.HandlerFor(r.registry, promhttp.HandlerOpts{})
}

func (r *Recorder) observe(event, tool, outcome string, took time.Duration) {
	r.total.WithLabelValues(event, tool, outcome).Inc()
	r.seconds.WithLabelValues(event, tool).Observe(took.Seconds())
}
