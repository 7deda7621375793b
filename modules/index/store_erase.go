package index

import (
	"context"
	"errors"
	"fmt"

	"vault/platform/postgres"
)

// ErrActive says that a repository belongs to the installation, so that it is
// not erased.
var ErrActive = errors.New("the repository is part of the installation")

// EraseRepository removes everything stored of a repository that left the
// installation. Texts that no other repository has go with the next
// Reconcile. Erasing what is not there is no error.
func (x *Index) EraseRepository(ctx context.Context, id int64) error {
	err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockRepos); err != nil {
			return err
		}
		var active bool
		err := tx.QueryRow(ctx, `SELECT active FROM repo WHERE id = $1 FOR UPDATE`, id).Scan(&active)
		switch {
		case errors.Is(err, postgres.ErrNoRows):
			return nil
		case err != nil:
			return err
		case active:
			return ErrActive
		}
		// A search that runs keeps the table from being dropped, and waiting
		// for it would keep other searches from starting.
		if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '3s'`); err != nil {
			return err
		}
		for _, sql := range []string{
			`SELECT fold_drop($1)`,
			`DELETE FROM link WHERE repo = $1`,
			`DELETE FROM file WHERE repo = $1`,
			`DELETE FROM vaultfile WHERE repo = $1`,
			`DELETE FROM commit WHERE repo = $1`,
			`DELETE FROM repo WHERE id = $1`,
		} {
			if _, err := tx.Exec(ctx, sql, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("erase repository %d: %w", id, err)
	}
	return nil
}

const (
	// orphanChunk is how many texts one transaction of Reconcile removes.
	orphanChunk = 5000
	// orphanAge is how long a text stays though no file has it: a build that
	// runs stores texts before files.
	orphanAge = "1 hour"
	// buildAge is how long a build that does not end keeps others from being
	// tidied up.
	buildAge = "1 day"
)

// A text that a repository still has to show is kept, and so are those of a
// repository that is being built.
const (
	orphanFoldsSQL = `
WITH gone AS (
    SELECT d.repo, d.blob, d.format
    FROM fold d
    JOIN repo r ON r.id = d.repo
    WHERE r.started_at IS NULL
      AND (d.format < r.format
           OR NOT EXISTS (SELECT 1 FROM file f WHERE f.blob = d.blob AND f.repo = d.repo))
      AND NOT EXISTS (SELECT 1 FROM blob b WHERE b.id = d.blob AND b.stored_at >= now() - $2::interval)
    LIMIT $1
), links AS (
    DELETE FROM link l USING gone g
    WHERE l.repo = g.repo AND l.blob = g.blob AND l.format = g.format
)
DELETE FROM fold d USING gone g
WHERE d.repo = g.repo AND d.blob = g.blob AND d.format = g.format`

	orphanBlobsSQL = `
WITH gone AS (
    SELECT b.id FROM blob b
    WHERE b.stored_at < now() - $2::interval
      AND NOT EXISTS (SELECT 1 FROM file f WHERE f.blob = b.id)
      AND NOT EXISTS (SELECT 1 FROM repo r WHERE r.started_at > now() - $3::interval)
    LIMIT $1
), docs AS (
    DELETE FROM doc d USING gone g WHERE d.blob = g.id
)
DELETE FROM blob b USING gone g WHERE b.id = g.id`

	oldDocsSQL = `
WITH gone AS (
    SELECT d.blob, d.format FROM doc d
    WHERE d.format < $2 AND NOT EXISTS (SELECT 1 FROM repo r WHERE r.format = d.format)
    LIMIT $1
)
DELETE FROM doc d USING gone g WHERE d.blob = g.blob AND d.format = g.format`
)

// Reconcile removes texts that no file has any more, up to a bound, and tells
// how many rows went and whether there may be more. While one part of it runs
// no head moves, so each is short.
func (x *Index) Reconcile(ctx context.Context) (removed int, more bool, err error) {
	steps := []struct {
		sql  string
		args []any
	}{
		{orphanFoldsSQL, []any{orphanChunk, orphanAge}},
		{oldDocsSQL, []any{orphanChunk, deriveFormat}},
		{orphanBlobsSQL, []any{orphanChunk, orphanAge, buildAge}},
	}
	for _, step := range steps {
		var n int
		err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockBlobs); err != nil {
				return err
			}
			tag, err := tx.Exec(ctx, step.sql, step.args...)
			n = int(tag.RowsAffected())
			return err
		})
		if err != nil {
			return removed, false, fmt.Errorf("remove unused texts: %w", err)
		}
		removed += n
		more = more || n == orphanChunk
	}
	return removed, more, nil
}
