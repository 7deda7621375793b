package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"vault/platform/postgres"
)

// migrationLock keeps processes that start together from migrating at once.
const migrationLock = 0x72697665 // "rive"

// Migrate makes the queue's tables, or brings them up to date.
func Migrate(ctx context.Context, db *postgres.DB, log *slog.Logger) error {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	err := db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		// The transaction only holds the lock: River's steps need their own.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrationLock)); err != nil {
			return err
		}
		if _, err := db.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schemaName); err != nil {
			return err
		}
		migrator, err := rivermigrate.New(riverpgxv5.New(db.Pool()), &rivermigrate.Config{
			Schema: schemaName,
			Logger: slog.New(quiet{log.Handler()}),
		})
		if err != nil {
			return err
		}
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate the job queue: %w", err)
	}
	return nil
}

// FreeLeftovers makes jobs available that count as running although the
// processes that ran them are dead. It is for a process that knows that it is
// the only one on the queue, before it starts to work.
func FreeLeftovers(ctx context.Context, db *postgres.DB) error {
	err := db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.Exec(ctx, `
			UPDATE river.river_job
			SET state = 'available', scheduled_at = now()
			WHERE state = 'running'`); err != nil {
			return err
		}
		// The dead process still counts as the one that keeps the queue in order.
		_, err := tx.Exec(ctx, `DELETE FROM river.river_leader`)
		return err
	})
	if err != nil {
		return fmt.Errorf("free the jobs of a dead process: %w", err)
	}
	return nil
}

// DeadJob is a job that was given up and has not been done since.
type DeadJob struct {
	Kind  string
	Key   string
	Error string    // of its last run; not for outsiders
	At    time.Time // when it was given up
}

// Dead lists the jobs given up in the last week, one for each kind and key,
// newest first, at most 1,000.
func Dead(ctx context.Context, q postgres.Querier) ([]DeadJob, error) {
	rows, err := q.Query(ctx, `
		SELECT kind, key, error, finalized_at
		FROM (
			SELECT DISTINCT ON (kind, args->>'key')
				kind,
				args->>'key' AS key,
				state,
				COALESCE(errors[array_upper(errors, 1)]->>'error', '') AS error,
				finalized_at
			FROM river.river_job
			ORDER BY kind, args->>'key', id DESC
		) AS newest
		WHERE state IN ('discarded', 'cancelled')
		ORDER BY finalized_at DESC
		LIMIT 1000`)
	if err != nil {
		return nil, fmt.Errorf("list dead jobs: %w", err)
	}
	dead, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d DeadJob, err error) {
		err = row.Scan(&d.Kind, &d.Key, &d.Error, &d.At)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("list dead jobs: %w", err)
	}
	return dead, nil
}
