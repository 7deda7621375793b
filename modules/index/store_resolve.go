package index

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/jackc/pgx/v5"

	"vault/modules/notes"
	"vault/platform/postgres"
)

// Resolved is what a link leads to.
type Resolved struct {
	// Path is the file's path, or that of a folder without a final slash; ""
	// when the link leads to nothing that the caller could open.
	Path string
	// Folder says that it is a folder.
	Folder bool
}

// Resolve works out what links of one file lead to, in their order. Files in
// closed folders take part: a link that means one of them means no other. But
// what it leads to is not told.
func (s *Snapshot) Resolve(ctx context.Context, repo, src string, links []notes.Link) ([]Resolved, error) {
	r, err := s.one(repo)
	if err != nil {
		return nil, err
	}
	paths := &linkPaths{ctx: func() context.Context { return ctx }, snapshot: s, repo: r}
	if err := paths.load(ctx, links); err != nil {
		return nil, err
	}
	out := make([]Resolved, len(links))
	for i, link := range links {
		to, ok := notes.Resolve(src, link, paths)
		if !ok {
			continue
		}
		if to == src {
			out[i] = Resolved{Path: src}
			continue
		}
		if open, known := paths.open[to]; known {
			if open {
				out[i] = Resolved{Path: to}
			}
			continue
		}
		there, err := s.HasFolder(ctx, repo, to)
		if err != nil {
			return nil, err
		}
		if there {
			out[i] = Resolved{Path: to, Folder: true}
		}
	}
	return out, paths.err
}

// linkPaths is what a repository holds, as far as some links ask.
type linkPaths struct {
	ctx      func() context.Context
	snapshot *Snapshot
	repo     Repo
	byKey    map[string][]string
	open     map[string]bool
	folders  map[string]bool
	err      error // the first failure of Has, which cannot return one
}

// maxPathsByKey bounds one answer: names such as README are very common.
const maxPathsByKey = 100_000

const keyedPathsSQL = `
SELECT f.key, f.path, f.open
FROM file f
WHERE f.repo = $1 AND f.key = ANY($2) AND f.raw_path IS NULL AND f.mode IN (33188, 33261)
ORDER BY f.path
LIMIT $3`

// load reads the paths that the links may mean.
func (p *linkPaths) load(ctx context.Context, links []notes.Link) error {
	p.byKey, p.open, p.folders = map[string][]string{}, map[string]bool{}, map[string]bool{}
	var keys []string
	for _, link := range links {
		if key := indexed(link.Key()); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	rows, err := p.snapshot.tx.Query(ctx, keyedPathsSQL, p.repo.ID, keys, maxPathsByKey)
	if err != nil {
		return fmt.Errorf("look for the targets of links: %w", err)
	}
	var key, file string
	var open bool
	_, err = pgx.ForEachRow(rows, []any{&key, &file, &open}, func() error {
		if !hidden(file) {
			p.byKey[key] = append(p.byKey[key], file)
			p.open[file] = open
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for the targets of links: %w", err)
	}
	return nil
}

// ByKey gives the file paths with a key.
func (p *linkPaths) ByKey(key string) []string { return p.byKey[indexed(key)] }

const isFolderSQL = `SELECT 1 FROM file WHERE repo = $1 AND path > $2 AND path < $3 LIMIT 1`

// Has reports whether a path is that of a file or of a folder that holds one.
func (p *linkPaths) Has(target string) bool {
	target = path.Clean(target)
	if _, ok := p.open[target]; ok {
		return true
	}
	if there, ok := p.folders[target]; ok || hidden(target) || p.err != nil {
		return there
	}
	from, to := belowRange(clean(target))
	var one int
	err := p.snapshot.tx.QueryRow(p.ctx(), isFolderSQL, p.repo.ID, from, to).Scan(&one)
	if err != nil && !errors.Is(err, postgres.ErrNoRows) {
		p.err = fmt.Errorf("look for the folder a link names: %w", err)
	}
	p.folders[target] = err == nil
	return err == nil
}
