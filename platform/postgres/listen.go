package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Listen waits for notifications on a channel and calls fn with the payload of
// each, until ctx ends or the connection breaks; it always returns an error.
// It calls ready once, when no later notification can be missed. It holds a
// connection of the pool meanwhile.
func (db *DB) Listen(ctx context.Context, channel string, ready func(), fn func(payload string)) error {
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", channel, err)
	}
	// The session listens, so it must not go back to the pool.
	raw := conn.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
		defer cancel()
		_ = raw.Close(ctx) // the session ends either way
	}()
	if _, err := raw.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return fmt.Errorf("listen on %s: %w", channel, err)
	}
	ready()
	for {
		n, err := raw.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", channel, err)
		}
		fn(n.Payload)
	}
}
