package index

import (
	"context"
	"fmt"
	"path"

	"github.com/jackc/pgx/v5"

	"vault/modules/notes"
)

// nearScan bounds how many paths are compared with a missing one.
const nearScan = 200_000

const (
	sameNameSQL = `
SELECT f.path FROM file f
WHERE f.repo = $1 AND f.key = $2 AND f.open
ORDER BY f.path
LIMIT $3`
	openNotesSQL = `
SELECT f.path FROM file f
WHERE f.repo = $1 AND f.is_note AND f.open
ORDER BY f.path
LIMIT $2`
	openFilesSQL = `
SELECT f.path FROM file f
WHERE f.repo = $1 AND f.open
ORDER BY f.path
LIMIT $2`
)

// Near gives up to five paths that a missing one may have been meant to be:
// those of the same name elsewhere, then those of the most similar spelling.
func (s *Snapshot) Near(ctx context.Context, repo, missing string) ([]string, error) {
	r, err := s.one(repo)
	if err != nil {
		return nil, err
	}
	rows, err := s.tx.Query(ctx, sameNameSQL, r.ID, indexed(notes.Key(missing)), nearLimit)
	if err != nil {
		return nil, fmt.Errorf("look for near paths: %w", err)
	}
	first, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for near paths: %w", err)
	}
	if len(first) >= nearLimit {
		return first, nil
	}
	sql := openNotesSQL
	if path.Ext(missing) != "" && !notes.IsNote(missing) {
		sql = openFilesSQL
	}
	n := newNearest(missing)
	err = s.eachPath(ctx, sql, r, func(p string) { n.add(p) })
	return n.paths(first), err
}

// NearFolders gives up to five folders that a missing one may have been meant
// to be, without a slash at the end.
func (s *Snapshot) NearFolders(ctx context.Context, repo, missing string) ([]string, error) {
	r, err := s.one(repo)
	if err != nil {
		return nil, err
	}
	base := notes.Fold(path.Base(missing))
	n := newNearest(missing)
	n.bare = false
	var first []string
	seen := map[string]bool{}
	err = s.eachPath(ctx, openFilesSQL, r, func(p string) {
		for dir := parent(p); dir != "" && !seen[dir]; dir = parent(dir) {
			seen[dir] = true
			if len(first) < nearLimit && notes.Fold(path.Base(dir)) == base {
				first = append(first, dir)
			}
			n.add(dir)
		}
	})
	return n.paths(first), err
}

// eachPath calls fn with the paths of a repository, up to nearScan of them.
func (s *Snapshot) eachPath(ctx context.Context, sql string, r Repo, fn func(string)) error {
	rows, err := s.tx.Query(ctx, sql, r.ID, nearScan)
	if err != nil {
		return fmt.Errorf("walk the paths: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		fn(string(rows.RawValues()[0]))
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("walk the paths: %w", err)
	}
	return nil
}
