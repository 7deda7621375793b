package index

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

const knownSQL = `
SELECT id, node_id, name, full_name, web_url, default_branch
FROM repo
WHERE active
ORDER BY name COLLATE "C", id`

// Repositories lists what GitHub says about every repository of the
// installation. It is for asking GitHub who may read which of them, and for
// nothing that a caller is shown.
func (x *Index) Repositories(ctx context.Context) ([]RepoInfo, error) {
	rows, err := x.db.Query(ctx, knownSQL)
	if err != nil {
		return nil, fmt.Errorf("list the repositories: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[RepoInfo])
	if err != nil {
		return nil, fmt.Errorf("list the repositories: %w", err)
	}
	return list, nil
}
