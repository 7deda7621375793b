package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"vault/e2e/compare"
	"vault/e2e/harness"
)

// comparison is one repository under comparison.
type comparison struct {
	table
	compare.Vault
	dir   string
	every int
	notes []compare.Note
}

// compareAll does all comparisons on one repository.
func compareAll(folder string, every int) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "vault-real-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	d, err := harness.StartDev(ctx, dir, folder)
	if err != nil {
		return err
	}
	defer func() { _ = d.Stop() }()
	c := &comparison{dir: dir, every: every, Vault: compare.Vault{Client: d.Client()}}
	if err := c.run(folder, d.Took); err != nil {
		return err
	}
	return c.end()
}

// run does the comparisons one after the other.
func (c *comparison) run(folder string, took time.Duration) (err error) {
	if c.Repo, err = onlyRepo(c.Client); err != nil {
		return err
	}
	c.repo = c.Repo
	if c.notes, err = compare.Notes(folder); err != nil {
		return err
	}
	fmt.Printf("%-16s %-9s %-46s %11s %9s\n", c.repo, "ready", fmt.Sprintf("%d notes", len(c.notes)), "", took.Round(time.Millisecond))
	for _, step := range []struct {
		name string
		run  func() (string, error)
	}{{"lists", c.list}, {"contents", c.contents}, {"counts", c.counts}, {"searches", c.search}, {"searches", c.ripgrep}} {
		if err := c.row(step.name, step.run); err != nil {
			return err
		}
	}
	return nil
}

// onlyRepo gives the name of the one repository that is served.
func onlyRepo(c *harness.Client) (string, error) {
	answer, err := harness.Into[struct{ Repos []struct{ Repo string } }](c, "tree", map[string]any{})
	if err != nil {
		return "", err
	}
	if len(answer.Repos) != 1 {
		return "", fmt.Errorf("%d repositories are served", len(answer.Repos))
	}
	return answer.Repos[0].Repo, nil
}

// list compares list_notes, page by page, with git's tree.
func (c *comparison) list() (string, error) {
	got, total, err := c.List(200)
	if err != nil {
		return "", err
	}
	if total != len(c.notes) {
		c.differ("total %d, git has %d notes", total, len(c.notes))
	}
	for i := range max(len(got), len(c.notes)) {
		if i >= len(got) || i >= len(c.notes) || got[i] != c.notes[i].Path {
			c.differ("the lists part at position %d of %d and %d", i, len(got), len(c.notes))
			break
		}
	}
	return fmt.Sprintf("git ls-tree: %d paths", len(got)), nil
}

// contents compares read_note with git's blobs. A long note is read piece by
// piece; one that is no text has to be refused.
func (c *comparison) contents() (string, error) {
	read, size := 0, 0
	for i := 0; i < len(c.notes); i += c.every {
		n := c.notes[i]
		difference, err := c.CheckText(n.Path, n.Text)
		var refused *harness.ToolError
		switch {
		case errors.As(err, &refused):
			if n.Readable() {
				c.differ("%s cannot be read: %v", n.Path, err)
			}
		case err != nil:
			return "", err
		case !n.Readable():
			c.differ("%s is no text and is read", n.Path)
		case difference != "":
			c.differ("%s: %s", n.Path, difference)
		}
		read++
		size += len(n.Text)
	}
	return fmt.Sprintf("git cat-file: %d notes, %.1f MB", read, float64(size)/1e6), nil
}

// depth is the most levels that tree shows at once.
const depth = 5

// counts compares tree with git's tree.
func (c *comparison) counts() (string, error) {
	want, counts := compare.Counts(c.notes, depth)
	got, numbers, err := c.Folders(depth)
	if err != nil {
		return "", err
	}
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got) || i >= len(want) || got[i] != want[i]:
			c.differ("the folders part at position %d of %d and %d", i, len(got), len(want))
			return "", nil
		case numbers[i] != counts[got[i]]:
			c.differ("%s has %d notes, git has %d", got[i], numbers[i], counts[got[i]])
		}
	}
	return fmt.Sprintf("git ls-tree: %d folders", len(got)), nil
}
