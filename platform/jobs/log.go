package jobs

import (
	"context"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// quiet passes on what River warns of; the rest is about its own workings.
type quiet struct{ slog.Handler }

// Enabled leaves out everything below a warning.
func (q quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs keeps the level.
func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(attrs)} }

// WithGroup keeps the level.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }

// reporter logs failed runs.
type reporter struct{ log *slog.Logger }

// HandleError logs a run that returned an error.
func (r *reporter) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	r.report(ctx, job, "a job failed", slog.Any("error", err))
	return nil
}

// HandlePanic logs a run that panicked.
func (r *reporter) HandlePanic(
	ctx context.Context, job *rivertype.JobRow, value any, trace string,
) *river.ErrorHandlerResult {
	r.report(ctx, job, "a job panicked", slog.Any("panic", value), slog.String("trace", trace))
	return nil
}

func (r *reporter) report(ctx context.Context, job *rivertype.JobRow, message string, attrs ...slog.Attr) {
	level := slog.LevelWarn
	dead := job.Attempt >= job.MaxAttempts
	if dead {
		level = slog.LevelError
	}
	attrs = append(attrs, slog.String("kind", job.Kind), slog.Int64("job", job.ID),
		slog.Int("attempt", job.Attempt), slog.Bool("dead", dead))
	r.log.LogAttrs(ctx, level, message, attrs...)
}
