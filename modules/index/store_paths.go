package index

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const pathsByKeySQL = `
SELECT f.key, f.path
FROM file f
WHERE f.repo = $1 AND f.key = ANY($2) AND f.open
ORDER BY f.path
LIMIT $3`

// maxPathsByKey bounds one answer: names such as README are very common.
const maxPathsByKey = 100_000

// PathsByKey gives the paths that links with these keys (notes.Key) may mean,
// by key.
func (s *Snapshot) PathsByKey(ctx context.Context, repo string, keys []string) (map[string][]string, error) {
	r, err := s.one(repo)
	if err != nil {
		return nil, err
	}
	cut := make([]string, len(keys))
	for i, key := range keys {
		cut[i] = indexed(key)
	}
	rows, err := s.tx.Query(ctx, pathsByKeySQL, r.ID, cut, maxPathsByKey)
	if err != nil {
		return nil, fmt.Errorf("look for paths by key: %w", err)
	}
	paths := map[string][]string{}
	var key, path string
	_, err = pgx.ForEachRow(rows, []any{&key, &path}, func() error {
		paths[key] = append(paths[key], path)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for paths by key: %w", err)
	}
	return paths, nil
}
