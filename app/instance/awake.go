package instance

import (
	"context"
	"time"

	"vault/platform/fault"
	"vault/platform/postgres"
)

// How long a database that sleeps or starts is waited for within one call, and
// how often it is tried.
const (
	awakeLimit = 30 * time.Second
	awakePause = 200 * time.Millisecond
)

// awake runs fn, which only reads, and runs it again while the database cannot
// be reached.
func awake[T any](ctx context.Context, fn func(context.Context) (T, error)) (T, error) {
	limit, cancel := context.WithTimeout(ctx, awakeLimit)
	defer cancel()
	for {
		v, err := fn(ctx)
		if err == nil || !postgres.IsUnreachable(err) {
			return v, err
		}
		select {
		case <-limit.Done():
			if ctx.Err() != nil {
				return v, ctx.Err()
			}
			return v, fault.Unavailable("the index of this installation cannot be reached").After(time.Minute).Because(err)
		case <-time.After(awakePause):
		}
	}
}
