package telemetry

import (
	"fmt"
	"io"
	"log/slog"
)

// LogConfig says how a process logs.
type LogConfig struct {
	// Format is "json" or "text".
	Format string
	// Level is "debug", "info", "warn" or "error".
	Level string
}

// NewLogger makes the process's logger.
func NewLogger(w io.Writer, c LogConfig) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", c.Level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch c.Format {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	}
	return nil, fmt.Errorf("log format %q is neither json nor text", c.Format)
}

// Secret is a string that must not be shown: it formats and logs as
// "redacted". Convert it to a string where it is used.
type Secret string

// String hides the secret.
func (Secret) String() string { return "redacted" }

// GoString hides the secret.
func (Secret) GoString() string { return "redacted" }

// LogValue hides the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue("redacted") }

// MarshalText hides the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte("redacted"), nil }
