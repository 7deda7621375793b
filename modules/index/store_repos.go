package index

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"vault/platform/postgres"
)

const upsertRepoSQL = `
INSERT INTO repo (id, node_id, name, full_name, web_url, default_branch)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (id) DO UPDATE SET
    node_id        = EXCLUDED.node_id,
    name           = EXCLUDED.name,
    full_name      = EXCLUDED.full_name,
    web_url        = EXCLUDED.web_url,
    default_branch = EXCLUDED.default_branch`

const retireSQL = `
UPDATE repo
SET active         = id = ANY($1),
    inactive_since = CASE WHEN id = ANY($1) THEN NULL ELSE coalesce(inactive_since, now()) END
WHERE active <> (id = ANY($1))`

// lockRepos keeps those apart who add or erase repositories.
const lockRepos = 0x767265706f // "vrepo"

// SetRepositories tells the index which repositories the installation has.
// The others become unreadable at once; their rows stay until
// EraseRepository.
func (x *Index) SetRepositories(ctx context.Context, repos []RepoInfo) error {
	err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		ids := make([]int64, len(repos))
		for i, r := range repos {
			ids[i] = r.ID
			if err := upsertRepo(ctx, tx, r); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, retireSQL, ids)
		return err
	})
	if err != nil {
		return fmt.Errorf("set the repositories: %w", err)
	}
	return nil
}

// upsertRepo writes a repository's description. It does not make one that
// left readable again.
func upsertRepo(ctx context.Context, tx postgres.Tx, r RepoInfo) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockRepos); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, upsertRepoSQL, r.ID, r.NodeID, r.Name, r.FullName, r.WebURL, r.DefaultBranch)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `SELECT fold_add($1)`, r.ID)
	return err
}

const sameRepoSQL = `
SELECT count(*) FROM repo
WHERE id = $1 AND node_id = $2 AND name = $3 AND full_name = $4 AND web_url = $5 AND default_branch = $6`

// ensureRepo makes sure that the repository has a row that describes it.
func (x *Index) ensureRepo(ctx context.Context, r RepoInfo) error {
	var n int
	err := x.db.QueryRow(ctx, sameRepoSQL, r.ID, r.NodeID, r.Name, r.FullName, r.WebURL, r.DefaultBranch).Scan(&n)
	if err == nil && n == 0 {
		err = x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error { return upsertRepo(ctx, tx, r) })
	}
	if err != nil {
		return fmt.Errorf("describe repository %d: %w", r.ID, err)
	}
	return nil
}

// buildStart is how a first build begins a slice.
type buildStart struct {
	done, total int
	late        bool // the search index is made behind the build
}

const beginBuildSQL = `
UPDATE repo
SET done       = $2,
    total      = $3,
    started_at = coalesce(started_at, now()),
    settled    = NOT $4
WHERE id = $1`

func (x *Index) beginBuild(ctx context.Context, repo int64, b buildStart) error {
	err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error {
		if !b.late {
			if err := makeIndex(ctx, tx, repo); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, beginBuildSQL, repo, b.done, b.total, b.late)
		return err
	})
	if err != nil {
		return fmt.Errorf("begin the build: %w", err)
	}
	return nil
}

func (x *Index) setDone(ctx context.Context, repo int64, done int) error {
	if _, err := x.db.Exec(ctx, `UPDATE repo SET done = $2 WHERE id = $1`, repo, done); err != nil {
		return fmt.Errorf("note the progress: %w", err)
	}
	return nil
}

// lockIndex plus a repository's number keeps those apart who make its search
// index: the second finds it made.
const lockIndex = 0x76696e646578 // "vindex"

func makeIndex(ctx context.Context, tx postgres.Tx, repo int64) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockIndex+repo); err != nil {
		return fmt.Errorf("make the search index: %w", err)
	}
	if _, err := tx.Exec(ctx, `SELECT fold_index($1)`, repo); err != nil {
		return fmt.Errorf("make the search index: %w", err)
	}
	return nil
}

// vacuumAbove is how many changed files make it worth to vacuum at once
// instead of leaving it to the server.
const vacuumAbove = 1000

// settle makes the search index after a first build, or moves what a push
// added to it to its place.
func (x *Index) settle(ctx context.Context, repo int64, settled bool, changed int) error {
	if settled {
		if changed == 0 {
			return nil
		}
		if _, err := x.db.Exec(ctx, `SELECT fold_clean($1)`, repo); err != nil {
			return fmt.Errorf("tidy the search index: %w", err)
		}
	} else if err := x.db.InTx(ctx, func(ctx context.Context, tx postgres.Tx) error { return makeIndex(ctx, tx, repo) }); err != nil {
		return err
	}
	if !settled || changed > vacuumAbove {
		if _, err := x.db.Exec(ctx, `VACUUM (ANALYZE) file, blob, doc`); err != nil {
			return fmt.Errorf("vacuum: %w", err)
		}
	}
	if settled {
		return nil
	}
	if _, err := x.db.Exec(ctx, `UPDATE repo SET settled = true WHERE id = $1`, repo); err != nil {
		return fmt.Errorf("note the search index: %w", err)
	}
	return nil
}

// allFiles lists the tree that the index stands at.
func (x *Index) allFiles(ctx context.Context, repo int64) ([]FileChange, error) {
	rows, err := x.db.Query(ctx, `SELECT path, raw_path, mode, oid, size FROM file WHERE repo = $1`, repo)
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	files, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (FileChange, error) {
		var r fileRow
		var oid []byte
		var mode int32
		err := row.Scan(&r.path, &r.rawPath, &mode, &oid, &r.size)
		r.mode, r.oid = uint32(mode), oidOf(oid)
		return r.change(), err
	})
	if err != nil {
		return nil, fmt.Errorf("list the files: %w", err)
	}
	return files, nil
}

// Retired is a repository that left the installation and is still stored.
type Retired struct {
	ID    int64
	Since time.Time
}

// Retired lists the repositories that left, the longest gone first.
func (x *Index) Retired(ctx context.Context) ([]Retired, error) {
	rows, err := x.db.Query(ctx, `SELECT id, coalesce(inactive_since, now()) FROM repo WHERE NOT active ORDER BY 2, 1`)
	if err != nil {
		return nil, fmt.Errorf("list repositories that left: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Retired])
	if err != nil {
		return nil, fmt.Errorf("list repositories that left: %w", err)
	}
	return list, nil
}
