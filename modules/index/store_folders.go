package index

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"vault/platform/postgres"
)

// below is the range of paths below a folder. forms says that some of them
// are stored in another Unicode form than NFC, so that the range has to be
// taken over the NFC forms, which no index orders.
type below struct {
	from, to string
	forms    bool
}

const otherFormsSQL = `
SELECT EXISTS (
    SELECT 1 FROM file
    WHERE repo = $1 AND nfc IS NOT NULL AND nfc > $2 AND nfc < $3
)`

// below gives the range of paths below a folder in NFC, and prepares for the
// queries that take one.
func (s *Snapshot) below(ctx context.Context, r Repo, folder string) (below, error) {
	var b below
	b.from, b.to = belowRange(folder)
	if err := s.planFor(ctx); err != nil || folder == "" {
		return b, err
	}
	if err := s.tx.QueryRow(ctx, otherFormsSQL, r.ID, b.from, b.to).Scan(&b.forms); err != nil {
		return below{}, fmt.Errorf("look for names in other Unicode forms: %w", err)
	}
	return b, nil
}

const hasFolderSQL = `
SELECT 1 FROM file f
WHERE f.repo = $1 AND f.open
  AND (NOT $4 AND f.path > $2 AND f.path < $3
       OR $4 AND coalesce(f.nfc, f.path) > $2 AND coalesce(f.nfc, f.path) < $3)
LIMIT 1`

// HasFolder reports whether a file of the vault stands below a folder, a path
// in NFC without a final slash. The root is always there.
func (s *Snapshot) HasFolder(ctx context.Context, repo, folder string) (bool, error) {
	r, err := s.one(repo)
	if err != nil || folder == "" {
		return err == nil, err
	}
	b, err := s.below(ctx, r, folder)
	if err != nil {
		return false, err
	}
	var one int
	err = s.tx.QueryRow(ctx, hasFolderSQL, r.ID, b.from, b.to, b.forms).Scan(&one)
	if errors.Is(err, postgres.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a folder: %w", err)
	}
	return true, nil
}

// FolderQuery says which folders Folders gives.
type FolderQuery struct {
	// Repo names the repository.
	Repo string
	// Folder is where to start, a path in NFC without a final slash; "" is
	// the root.
	Folder string
	// Depth is how many levels below it are given.
	Depth int
	// Offset folders are left out, and at most Limit are given.
	Offset, Limit int
}

// FolderItem is one folder.
type FolderItem struct {
	// Path is the folder's path, with a slash at its end.
	Path string
	// Notes counts the notes below it, at any depth.
	Notes int
	// Readme is the path of its README.md, "" without one; Summary is that
	// note's.
	Readme, Summary string
}

// FolderPage is a page of folders.
type FolderPage struct {
	// Folders are in path order.
	Folders []FolderItem
	// Total counts the folders that match.
	Total int
	// HasMore says that more follow after this page.
	HasMore bool
}

const notePathsSQL = `
SELECT f.path FROM file f
WHERE f.repo = $1 AND f.is_note AND f.open
  AND (NOT $4 AND f.path > $2 AND f.path < $3
       OR $4 AND coalesce(f.nfc, f.path) > $2 AND coalesce(f.nfc, f.path) < $3)
ORDER BY f.path`

// Folders lists the folders below a folder that hold a note, each with how
// many there are.
func (s *Snapshot) Folders(ctx context.Context, q FolderQuery) (FolderPage, error) {
	r, err := s.one(q.Repo)
	if err != nil {
		return FolderPage{}, err
	}
	b, err := s.below(ctx, r, q.Folder)
	if err != nil {
		return FolderPage{}, err
	}
	rows, err := s.tx.Query(ctx, notePathsSQL, r.ID, b.from, b.to, b.forms)
	if err != nil {
		return FolderPage{}, fmt.Errorf("count notes by folder: %w", err)
	}
	defer rows.Close()
	c := newCounter(q)
	for rows.Next() {
		// The raw bytes spare an allocation for each of very many rows.
		c.add(rows.RawValues()[0])
	}
	if err := rows.Err(); err != nil {
		return FolderPage{}, fmt.Errorf("count notes by folder: %w", err)
	}
	page := c.page(q)
	return page, s.readmes(ctx, r, page.Folders)
}

// counter counts notes by folder from their paths, which come in order.
type counter struct {
	skip  int // parts of the path that belong to the starting folder
	depth int
	items []FolderItem
	open  []int // the items the last path was below, outermost first
}

func newCounter(q FolderQuery) *counter {
	c := &counter{depth: q.Depth}
	if q.Folder != "" {
		c.skip = strings.Count(q.Folder, "/") + 1
	}
	return c
}

// add counts one path. Paths in byte order keep those of a folder together,
// since they all start with its name and a slash.
func (c *counter) add(path []byte) {
	level, seen := 0, 0
	for i, b := range path {
		if b != '/' {
			continue
		}
		if seen++; seen <= c.skip {
			continue
		}
		if level == c.depth {
			break
		}
		c.enter(level, path[:i+1])
		level++
	}
	c.open = c.open[:level]
	for _, at := range c.open {
		c.items[at].Notes++
	}
}

// enter makes a folder the current one of its level.
func (c *counter) enter(level int, folder []byte) {
	if level < len(c.open) && c.items[c.open[level]].Path == string(folder) {
		return
	}
	c.open = append(c.open[:level], len(c.items))
	c.items = append(c.items, FolderItem{Path: string(folder)})
}

func (c *counter) page(q FolderQuery) FolderPage {
	total := len(c.items)
	from := min(q.Offset, total)
	to := min(from+q.Limit, total)
	return FolderPage{Folders: c.items[from:to], Total: total, HasMore: to < total}
}

const readmesSQL = `
SELECT f.path, coalesce(f.summary, '') FROM file f
WHERE f.repo = $1 AND f.path = ANY($2) AND f.is_note AND f.open`

// readmes adds to folders what their README.md says.
func (s *Snapshot) readmes(ctx context.Context, r Repo, folders []FolderItem) error {
	paths := make([]string, len(folders))
	at := make(map[string]*FolderItem, len(folders))
	for i := range folders {
		paths[i] = folders[i].Path + readmeName
		at[paths[i]] = &folders[i]
	}
	if len(paths) == 0 {
		return nil
	}
	rows, err := s.tx.Query(ctx, readmesSQL, r.ID, paths)
	if err != nil {
		return fmt.Errorf("read the folders' READMEs: %w", err)
	}
	var path, summary string
	_, err = pgx.ForEachRow(rows, []any{&path, &summary}, func() error {
		at[path].Readme, at[path].Summary = path, summary
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the folders' READMEs: %w", err)
	}
	return nil
}

// readmeName is the one spelling that describes a folder.
const readmeName = "README.md"
