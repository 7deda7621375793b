package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"vault/e2e/corpus"
	"vault/e2e/harness"
)

// build compares the full build of a head with git reading the same contents.
// Each round has a database of its own. It begins when the index starts to
// work, with the notes in a repository that it has not seen before, and ends
// when they can be read; how long the search index takes besides is shown too.
func (b *bench) build() error {
	var visible, settled, theirs []float64
	small := filepath.Join(b.dir, "small")
	if err := corpus.Plain(small, 1, 3); err != nil {
		return err
	}
	for i := range rounds {
		seen, done, err := b.buildOnce(fmt.Sprintf("build%d", i), small)
		if err != nil {
			return err
		}
		cat, err := milliseconds(b.catFile)
		if err != nil {
			return err
		}
		visible, settled, theirs = append(visible, seen), append(settled, done), append(theirs, cat)
	}
	b.add(row{name: fmt.Sprintf("full build to visible, %d notes", b.notes), ours: visible, theirs: theirs, unit: "ms",
		goal: "≤ 3", met: median(visible) <= 3*median(theirs)})
	b.add(row{name: "full build, search index included", ours: settled, theirs: theirs, unit: "ms"})
	return nil
}

// buildOnce gives the milliseconds until the notes are visible, and until
// their search index is made.
func (b *bench) buildOnce(name, small string) (visible, settled float64, err error) {
	roles, err := b.startRoles(name, small)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = os.RemoveAll(filepath.Join(b.dir, name)) }()
	defer roles.stop()
	d := roles.dev
	const repo = "bulk"
	// What is pushed while the index works would be a change of an empty
	// repository to it.
	if err := roles.index.Stop(); err != nil {
		return 0, 0, err
	}
	if err := d.Admin(http.MethodPost, "repositories", map[string]string{"name": repo}, nil); err != nil {
		return 0, 0, err
	}
	token, err := d.GitHubToken(owner(d))
	if err != nil {
		return 0, 0, err
	}
	if err := corpus.Git(b.checkout(), "push", "-q", d.CloneURL(d.Name(), repo, token), "HEAD:main"); err != nil {
		return 0, 0, err
	}
	start := time.Now()
	if roles.index, err = roles.startRole("index"); err != nil {
		return 0, 0, err
	}
	wait := b.watch(roles, "index", name, buildSeconds)
	c := d.Client()
	if err := await("the first list", func() bool {
		list, err := harness.Into[struct{ Total int }](c, "list_notes", map[string]any{"repo": repo, "limit": 1})
		return err == nil && list.Total == b.notes
	}); err != nil {
		return 0, 0, err
	}
	visible = float64(time.Since(start).Microseconds()) / 1000
	if err := roles.indexed(repo); err != nil {
		return 0, 0, err
	}
	settled = float64(time.Since(start).Microseconds()) / 1000
	return visible, settled, wait()
}

// buildSeconds is how long the profile of a build is.
const buildSeconds = 4

// owner is the first person's login.
func owner(d *harness.Dev) string {
	for login, token := range d.People {
		if token == d.Token {
			return login
		}
	}
	return ""
}

// catFile has git read every blob of the head.
func (b *bench) catFile() error {
	tree := exec.Command("git", "ls-tree", "-r", "--format=%(objectname)", "HEAD")
	tree.Dir = b.checkout()
	oids, err := tree.Output()
	if err != nil {
		return err
	}
	cat := exec.Command("git", "cat-file", "--batch", "--buffer")
	cat.Dir = b.checkout()
	cat.Stdin = strings.NewReader(string(oids))
	cat.Stdout = io.Discard
	return cat.Run()
}

// push measures how long a pushed note takes to be seen, at growing sizes.
func (b *bench) push() error {
	for notes := 100; notes <= b.notes; notes *= 10 {
		samples, err := b.pushAt(notes)
		if err != nil {
			return err
		}
		b.add(row{name: fmt.Sprintf("push to visible, %d notes", notes), ours: samples, unit: "ms",
			goal: "< 300 ms", met: median(samples) < 300})
	}
	return nil
}

// pushAt pushes notes to a repository of the local GitHub's own.
func (b *bench) pushAt(notes int) ([]float64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	dir := filepath.Join(b.dir, fmt.Sprintf("push%d", notes))
	d, err := harness.StartDev(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Stop() }()
	clone := filepath.Join(dir, "clone")
	if err := corpus.Plain(clone, notes, 2); err != nil {
		return nil, err
	}
	token, err := d.GitHubToken(owner(d))
	if err != nil {
		return nil, err
	}
	if err := corpus.Git(clone, "push", "-q", "--force", d.CloneURL(d.Name(), "handbook", token), "HEAD:main"); err != nil {
		return nil, err
	}
	c := d.Client()
	if err := seen(c, corpus.Path(notes-1), "Note"); err != nil {
		return nil, err
	}
	var samples []float64
	for i := range rounds {
		word := fmt.Sprintf("fresh%d", i)
		if err := os.WriteFile(filepath.Join(clone, "pushed.md"), []byte(word+"\n"), 0o644); err != nil {
			return nil, err
		}
		for _, args := range [][]string{{"add", "pushed.md"}, {"commit", "-q", "-m", word}} {
			if err := corpus.Git(clone, args...); err != nil {
				return nil, err
			}
		}
		if err := corpus.Git(clone, "push", "-q", d.CloneURL(d.Name(), "handbook", token), "HEAD:main"); err != nil {
			return nil, err
		}
		took, err := milliseconds(func() error { return seen(c, "pushed.md", word) })
		if err != nil {
			return nil, err
		}
		samples = append(samples, took)
	}
	return samples, nil
}

// seen waits until a note of handbook holds a word.
func seen(c *harness.Client, path, word string) error {
	deadline := time.Now().Add(startLimit)
	for time.Now().Before(deadline) {
		r, err := c.Call("read_note", map[string]any{"repo": "handbook", "path": path})
		if err == nil && strings.Contains(r.Text, word) {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return fmt.Errorf("%s was not seen", path)
}
