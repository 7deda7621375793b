package acme

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/mail"
	"slices"
	"strings"
	"time"

	"vault/platform/git"
)

// header is the file of a commit's folder that describes the commit. It has
// lines "Key: value", an empty line, and the message:
//
//	Author: Nora Lindqvist <nora@acme.example>
//	Date: 2026-02-03T09:12:00+01:00
//	Move: active/old.md -> archive/old.md
//	Delete: active/draft.md
//
//	Archive the old plan
//
// Author and Date (RFC 3339) are required. Move and Delete may be repeated; a
// path that ends in a slash means everything below it. Every other file of the
// folder is written at its path after the moves and deletions, so that a file
// can be moved and changed in one commit.
const header = "commit"

// commit is one commit, ready to be written.
type commit struct {
	folder  string
	author  git.Signature
	message string
	changes []git.FileChange
}

// readHistory reads the commits of one repository, a folder each, by name.
func readHistory(files fs.FS) ([]commit, error) {
	folders, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, err
	}
	var commits []commit
	tree := map[string][]byte{}
	for _, entry := range folders {
		folder, err := fs.Sub(files, entry.Name())
		if err != nil {
			return nil, err
		}
		c, after, err := readCommit(folder, tree)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		c.folder = entry.Name()
		commits, tree = append(commits, c), after
	}
	return commits, nil
}

// readCommit reads one commit's folder. Tree holds the files before the
// commit; the files after it come back.
func readCommit(folder fs.FS, tree map[string][]byte) (commit, map[string][]byte, error) {
	text, err := fs.ReadFile(folder, header)
	if err != nil {
		return commit{}, nil, err
	}
	after := maps.Clone(tree)
	c, err := parseHeader(string(text), after)
	if err != nil {
		return commit{}, nil, err
	}
	err = fs.WalkDir(folder, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == header {
			return err
		}
		after[path], err = fs.ReadFile(folder, path)
		return err
	})
	if err != nil {
		return commit{}, nil, err
	}
	c.changes = difference(tree, after)
	return c, after, nil
}

// parseHeader reads a header and carries its moves and deletions out on tree.
func parseHeader(text string, tree map[string][]byte) (c commit, err error) {
	lines, message, found := strings.Cut(text, "\n\n")
	if !found || strings.TrimSpace(message) == "" {
		return c, errors.New("the header has no message")
	}
	c.message = message
	for line := range strings.Lines(lines) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if err := c.setHeader(key, value, tree); err != nil {
			return c, fmt.Errorf("header line %q: %w", strings.TrimSpace(line), err)
		}
	}
	if c.author.Name == "" || c.author.When.IsZero() {
		return c, errors.New("the header lacks Author or Date")
	}
	return c, nil
}

func (c *commit) setHeader(key, value string, tree map[string][]byte) error {
	switch key {
	case "Author":
		address, err := mail.ParseAddress(value)
		if err != nil {
			return err
		}
		c.author.Name, c.author.Email = address.Name, address.Address
	case "Date":
		when, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return err
		}
		c.author.When = when
	case "Move":
		from, to, found := strings.Cut(value, " -> ")
		if !found {
			return errors.New("there is no target")
		}
		return move(tree, from, to)
	case "Delete":
		return move(tree, value, "")
	default:
		return errors.New("unknown key")
	}
	return nil
}

// move gives a file, or for a path that ends in a slash all files below it,
// another path; an empty one deletes.
func move(tree map[string][]byte, from, to string) error {
	found := false
	for _, path := range slices.Collect(maps.Keys(tree)) {
		rest, below := strings.CutPrefix(path, from)
		if !below || rest != "" && !strings.HasSuffix(from, "/") {
			continue
		}
		found = true
		content := tree[path]
		delete(tree, path)
		if to != "" {
			tree[to+rest] = content
		}
	}
	if !found {
		return errors.New("there is no such file")
	}
	return nil
}

// difference lists what makes before into after, by path.
func difference(before, after map[string][]byte) []git.FileChange {
	var changes []git.FileChange
	for path := range before {
		if _, stays := after[path]; !stays {
			changes = append(changes, git.FileChange{Path: path, Delete: true})
		}
	}
	for path, content := range after {
		if old, was := before[path]; !was || string(old) != string(content) {
			changes = append(changes, git.FileChange{Path: path, Data: content})
		}
	}
	slices.SortFunc(changes, func(a, b git.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return changes
}
