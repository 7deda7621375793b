package installations

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"vault/platform/postgres"
)

// Sync makes the repositories of an installation those that GitHub lists. New
// ones get a job, gone ones are inactive at once, and one whose branch changed
// is wanted anew. A job that should be there and is not, because it was given
// up, is inserted again. ErrGone means that the installation is not known or
// was removed.
func (s *Service) Sync(ctx context.Context, installation int64, repos []Repository) error {
	if err := checkList(repos); err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		known, err := lockKnown(ctx, tx, installation, repos)
		if err != nil {
			return err
		}
		p := compare(installation, repos, known)
		if !p.empty() {
			if err := s.apply(ctx, tx, installation, p); err != nil {
				return err
			}
		}
		if err := s.requestMissing(ctx, tx, installation); err != nil {
			return err
		}
		return sweep(ctx, tx)
	})
}

// syncLock is the advisory lock that syncs take.
const syncLock = int64(0x7661756c74_01) // "vault", 1

// lockKnown locks an installation, the others that own some of repos, and the
// rows of all repositories that a sync may touch, and gives the latter.
func lockKnown(ctx context.Context, tx postgres.Tx, installation int64, repos []Repository) (map[int64]Repository, error) {
	// Only a sync moves a repository from one installation to another. One at a
	// time, they find all owners before they lock the first of them.
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, syncLock); err != nil {
		return nil, fmt.Errorf("wait for other syncs: %w", err)
	}
	ids := idsOf(repos)
	if err := lockInstallations(ctx, tx, installation, ids); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `
SELECT id, installation_id, node_id, name, full_name, default_branch, active
FROM repository
WHERE installation_id = $1 OR id = ANY($2)
ORDER BY id
FOR UPDATE`, installation, ids)
	if err != nil {
		return nil, fmt.Errorf("lock the repositories of installation %d: %w", installation, err)
	}
	known := map[int64]Repository{}
	var r Repository
	_, err = pgx.ForEachRow(rows,
		[]any{&r.ID, &r.Installation, &r.NodeID, &r.Name, &r.FullName, &r.DefaultBranch, &r.Active},
		func() error {
			known[r.ID] = r
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("lock the repositories of installation %d: %w", installation, err)
	}
	return known, nil
}

// lockInstallations locks an installation that is to be there and those that
// own some of the repositories ids.
func lockInstallations(ctx context.Context, tx postgres.Tx, installation int64, ids []int64) error {
	rows, err := tx.Query(ctx, `
SELECT id
FROM installation
WHERE (id = $1 AND state <> 'deleted') OR id IN (
    SELECT installation_id
    FROM repository
    WHERE id = ANY($2) AND installation_id <> $1
)
ORDER BY id
FOR UPDATE`, installation, ids)
	if err != nil {
		return fmt.Errorf("lock installation %d: %w", installation, err)
	}
	locked, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("lock installation %d: %w", installation, err)
	}
	if !slices.Contains(locked, installation) {
		return ErrGone
	}
	return nil
}

// apply writes a plan that is not empty.
func (s *Service) apply(ctx context.Context, tx postgres.Tx, installation int64, p plan) error {
	if len(p.gone) > 0 {
		if err := leave(ctx, tx, installation, p.gone); err != nil {
			return err
		}
	}
	// The other side's list may be the newer one, so it is asked for again.
	for _, other := range p.robbed {
		if err := leave(ctx, tx, other, idsOf(p.put)); err != nil {
			return err
		}
		if err := raise(ctx, tx, other); err != nil {
			return err
		}
		if err := s.requestSync(ctx, tx, other); err != nil {
			return err
		}
	}
	if err := put(ctx, tx, installation, p.put); err != nil {
		return err
	}
	if p.renamed {
		if err := s.insertCatalogue(ctx, tx, installation); err != nil {
			return err
		}
	}
	return raise(ctx, tx, installation)
}

func idsOf(repos []Repository) []int64 {
	ids := make([]int64, len(repos))
	for n, r := range repos {
		ids[n] = r.ID
	}
	return ids
}

// put writes new and changed repositories. One that comes back or from another
// installation starts afresh, since its index may be gone.
func put(ctx context.Context, tx postgres.Tx, installation int64, repos []Repository) error {
	batch := &pgx.Batch{}
	for _, r := range repos {
		batch.Queue(putOne, r.ID, installation, r.NodeID, r.Name, r.FullName, r.DefaultBranch)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("write the repositories of installation %d: %w", installation, err)
	}
	return nil
}

const putOne = `
INSERT INTO repository AS r (id, installation_id, node_id, name, full_name, default_branch)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE
SET node_id = EXCLUDED.node_id,
    name = EXCLUDED.name,
    full_name = EXCLUDED.full_name,
    default_branch = EXCLUDED.default_branch,
    installation_id = EXCLUDED.installation_id,
    active = true,
    inactive_since = NULL,
    wanted_gen = r.wanted_gen + CASE
        WHEN r.active AND r.installation_id = EXCLUDED.installation_id AND r.default_branch = EXCLUDED.default_branch
        THEN 0 ELSE 1 END,
    indexed_head = CASE WHEN r.active AND r.installation_id = EXCLUDED.installation_id THEN r.indexed_head ELSE '' END,
    vault_rev = CASE WHEN r.active AND r.installation_id = EXCLUDED.installation_id THEN r.vault_rev ELSE '' END,
    complete = r.complete AND r.active AND r.installation_id = EXCLUDED.installation_id,
    findings = CASE WHEN r.active AND r.installation_id = EXCLUDED.installation_id THEN r.findings ELSE '[]' END,
    error = CASE WHEN r.active AND r.installation_id = EXCLUDED.installation_id THEN r.error ELSE '' END,
    updated_at = now()`

// requestMissing inserts the job of every repository that is not where it is
// wanted; one that has its job keeps that.
func (s *Service) requestMissing(ctx context.Context, tx postgres.Tx, installation int64) error {
	rows, err := tx.Query(ctx, `
SELECT r.id
FROM repository AS r
JOIN installation AS i ON i.id = r.installation_id
WHERE i.id = $1 AND i.state = 'enabled' AND NOT i.suspended AND r.active AND r.wanted_gen > r.done_gen
ORDER BY r.id`, installation)
	if err != nil {
		return fmt.Errorf("find the work left in installation %d: %w", installation, err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("find the work left in installation %d: %w", installation, err)
	}
	for _, id := range ids {
		if err := s.insertIndex(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// sweep forgets what nobody asks for any more.
func sweep(ctx context.Context, tx postgres.Tx) error {
	_, err := tx.Exec(ctx, `
DELETE FROM delivery
WHERE received_at < now() - $1::interval`, deliveriesKept)
	if err != nil {
		return fmt.Errorf("forget old deliveries: %w", err)
	}
	_, err = tx.Exec(ctx, `
DELETE FROM reader_set
WHERE last_seen < now() - $1::interval`, readerSetsKept)
	if err != nil {
		return fmt.Errorf("forget old reader sets: %w", err)
	}
	return nil
}
