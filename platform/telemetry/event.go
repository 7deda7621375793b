// Package telemetry holds what a process tells its operator: one structured
// event per request or job, from which the log line and the metrics are made.
package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Event collects what is worth knowing about one request or job while it
// runs. It is safe for concurrent use.
type Event struct {
	recorder *Recorder
	name     string
	started  time.Time

	mu      sync.Mutex
	attrs   []slog.Attr
	outcome string
	tool    string
}

type eventKey struct{}

// The keys with a meaning of their own: they also label the metrics, so their
// values must come from a small closed set.
const (
	// KeyOutcome is how it ended: "ok" when never set.
	KeyOutcome = "outcome"
	// KeyTool is the tool that was called; only names of listed tools.
	KeyTool = "tool"
)

// Add puts a field on the event in ctx; without an event it does nothing.
// Note text, tokens and names of repositories must never be added.
func Add(ctx context.Context, key string, value any) {
	e, ok := ctx.Value(eventKey{}).(*Event)
	if !ok {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch key {
	case KeyOutcome:
		e.outcome, _ = value.(string)
	case KeyTool:
		e.tool, _ = value.(string)
	default:
		e.attrs = append(e.attrs, slog.Any(key, value))
	}
}

// End writes the event's log line and counts it.
func (e *Event) End() {
	took := time.Since(e.started)
	e.mu.Lock()
	attrs := make([]slog.Attr, 0, len(e.attrs)+3)
	if e.tool != "" {
		attrs = append(attrs, slog.String(KeyTool, e.tool))
	}
	attrs = append(attrs, slog.String(KeyOutcome, e.outcome), slog.Int64("took_us", took.Microseconds()))
	attrs = append(attrs, e.attrs...)
	outcome, tool := e.outcome, e.tool
	e.mu.Unlock()
	e.recorder.observe(e.name, tool, outcome, took)
	e.recorder.log.LogAttrs(context.Background(), slog.LevelInfo, e.name, attrs...)
}
