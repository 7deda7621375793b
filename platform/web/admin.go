package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"
)

// readyTimeout bounds one readiness answer.
const readyTimeout = time.Second

// Admin answers an operator's questions on a listener of its own:
//
//	GET /healthz  200 while the process lives
//	GET /readyz   200 when it can serve, else 503 naming what is missing
//	GET /metrics  Prometheus' text format
//	GET /debug/pprof/…  Go's profiles of the process
func Admin(check func(context.Context) error, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := check(ctx); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ready")
	})
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
