package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// txAttempts bounds how often a transaction that lost a race is run.
	txAttempts = 8
	// txBackoff is the first pause; it doubles, with as much again at random.
	txBackoff = 5 * time.Millisecond
	// rollbackTimeout bounds a rollback, which must not hang on a caller whose
	// own context has ended.
	rollbackTimeout = 5 * time.Second
)

// Tx is an open transaction. It is good only inside the function it was given
// to, which neither commits nor rolls back.
type Tx struct {
	Querier
	raw pgx.Tx
}

// Raw gives the driver's transaction. It is for platform/jobs alone, whose
// library wants it.
func (t Tx) Raw() pgx.Tx { return t.raw }

// InTx runs fn in a transaction and commits it if fn returns nil. A
// transaction that fails because it met another one (serialization failure,
// deadlock) is run again a few times, so fn must set all it changes outside
// the database afresh on each run. An error or a panic of fn rolls back.
func (db *DB) InTx(ctx context.Context, fn func(context.Context, Tx) error) error {
	pause := txBackoff
	for attempt := 1; ; attempt++ {
		err := db.runTx(ctx, fn)
		if err == nil || !isRetryable(err) || attempt == txAttempts {
			return err
		}
		if waitErr := wait(ctx, pause+rand.N(pause)); waitErr != nil {
			return errors.Join(err, waitErr)
		}
		pause *= 2
	}
}

func (db *DB) runTx(ctx context.Context, fn func(context.Context, Tx) error) error {
	raw, err := db.pool.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin a transaction: %w", err)
	}
	// Also reached by a panic of fn; after a commit it does nothing.
	defer db.rollback(ctx, raw)
	if err := fn(ctx, Tx{Querier: raw, raw: raw}); err != nil {
		return err
	}
	if err := raw.Commit(ctx); err != nil {
		return fmt.Errorf("commit a transaction: %w", err)
	}
	return nil
}

func (db *DB) rollback(ctx context.Context, raw pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackTimeout)
	defer cancel()
	err := raw.Rollback(ctx)
	if err != nil && !errors.Is(err, pgx.ErrTxClosed) && !raw.Conn().IsClosed() {
		db.log.WarnContext(ctx, "rollback", "error", err)
	}
}

// ReadTx is a read-only transaction in which every query sees the same state
// of the database, that of its first query. It must be closed.
type ReadTx struct {
	Querier
	raw pgx.Tx
	db  *DB
}

// ReadSnapshot opens a read-only transaction of isolation REPEATABLE READ.
func (db *DB) ReadSnapshot(ctx context.Context) (*ReadTx, error) {
	raw, err := db.pool.BeginTx(ctx, pgx.TxOptions{
		IsoLevel:   pgx.RepeatableRead,
		AccessMode: pgx.ReadOnly,
	})
	if err != nil {
		return nil, fmt.Errorf("open a read snapshot: %w", err)
	}
	return &ReadTx{Querier: raw, raw: raw, db: db}, nil
}

// Close ends the transaction, even if ctx has ended, and gives its connection
// back. Closing twice is harmless.
func (r *ReadTx) Close(ctx context.Context) { r.db.rollback(ctx, r.raw) }

// wait pauses for d or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
