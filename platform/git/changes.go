package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Changes lists what each of many commits changed against its first parent, in
// one process. Fn gets the index of the commit in commits; a commit that
// changed nothing, or whose tree was not recorded, is left out. A commit whose
// parents were cut off counts as having none. An error of fn ends the walk and
// comes back as it is.
func (repo *Repo) Changes(ctx context.Context, commits []OID, fn func(i int, c Change) error) error {
	if err := check(commits...); err != nil || len(commits) == 0 {
		return err
	}
	reader := &changesReader{fn: fn, commits: commits, at: -1, left: repo.run.limits.entries}
	err := repo.walk(ctx, call{
		args: []string{
			"diff-tree", "--stdin", "--root", "--diff-merges=first-parent", "-r", "-z", "--raw", "--no-renames",
			"--no-abbrev", "--text", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
		},
		feed: func(in io.Writer) error { return writeOIDs(in, commits) },
	}, func(out io.Reader) error { return records(out, reader.record) })
	return absent(err, fmt.Sprintf("changes of %d commits", len(commits)))
}

// changesReader takes a record with a commit's id, then pairs of a meta record
// and a path.
type changesReader struct {
	fn      func(int, Change) error
	commits []OID
	at      int
	left    int
	meta    []byte
}

func (c *changesReader) record(record []byte) error {
	switch {
	case c.meta != nil:
		return c.path(record)
	case len(record) > 0 && record[0] == ':':
		c.meta = bytes.Clone(record)
		return nil
	}
	for c.at++; c.at < len(c.commits); c.at++ {
		if string(c.commits[c.at]) == string(record) {
			return nil
		}
	}
	return fmt.Errorf("unexpected answer of git diff-tree: %.200q", record)
}

func (c *changesReader) path(record []byte) error {
	if c.left--; c.left < 0 {
		return fmt.Errorf("the changes are %w", ErrTooLarge)
	}
	if c.at < 0 {
		return fmt.Errorf("unexpected answer of git diff-tree: %.200q", record)
	}
	change, err := parseChange(c.meta, record)
	if c.meta = nil; err != nil {
		return err
	}
	return c.fn(c.at, change)
}
