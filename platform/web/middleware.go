package web

import (
	"log/slog"
	"net/http"
	"runtime/debug"

	"vault/platform/fault"
	"vault/platform/telemetry"
)

// Middleware wraps a handler.
type Middleware func(http.Handler) http.Handler

// Chain applies middleware so that the first one listed sees a request first.
func Chain(h http.Handler, list ...Middleware) http.Handler {
	for i := len(list) - 1; i >= 0; i-- {
		h = list[i](h)
	}
	return h
}

// Events makes one event for each request, under the given name.
func Events(recorder *telemetry.Recorder, name string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, event := recorder.Begin(r.Context(), name)
			defer event.End()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// Recover turns a panic into a 500 with a reference; the panic and its stack
// go to the log only.
func Recover(log *slog.Logger) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				if p == http.ErrAbortHandler {
					panic(p)
				}
				reference := fault.NewReference()
				telemetry.Add(r.Context(), telemetry.KeyOutcome, "panic")
				log.Error("panic", "reference", reference, "panic", p, "stack", string(debug.Stack()))
				http.Error(w, "Something went wrong on our side. Reference: "+reference+".", http.StatusInternalServerError)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// Status gives the HTTP status of a fault kind.
func Status(kind fault.Kind) int {
	switch kind {
	case fault.KindInvalid:
		return http.StatusBadRequest
	case fault.KindUnauthenticated:
		return http.StatusUnauthorized
	case fault.KindDenied:
		return http.StatusForbidden
	case fault.KindNotFound:
		return http.StatusNotFound
	case fault.KindConflict:
		return http.StatusConflict
	case fault.KindLimited:
		return http.StatusTooManyRequests
	case fault.KindUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
