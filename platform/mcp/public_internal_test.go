package mcp

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"vault/platform/telemetry"
)

// A caller who hangs up makes what is under way fail, which is nobody's fault.
func TestHangingUpIsNoFault(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		gone bool
		want string
	}{{true, "outcome=canceled"}, {false, "outcome=internal"}} {
		out := &strings.Builder{}
		log := slog.New(slog.NewTextHandler(out, nil))
		s := &Server{config: Config{Log: log}}
		ctx, cancel := context.WithCancel(t.Context())
		ctx, event := telemetry.NewRecorder(log).Begin(ctx, "test")
		if tt.gone {
			cancel()
		}
		if text := s.public(ctx, errors.New("the cause")); strings.Contains(text, "the cause") {
			t.Errorf("shown: %s", text)
		}
		event.End()
		if got := out.String(); !strings.Contains(got, tt.want) || strings.Contains(got, "the cause") == tt.gone {
			t.Errorf("gone %v: %s", tt.gone, got)
		}
		cancel()
	}
}
