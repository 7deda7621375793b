package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"vault/e2e/corpus"
	"vault/e2e/harness"
)

// build compares the full build of the head with git reading the same
// contents. It is timed from the start of `vault dev` on a data folder whose
// database has no notes, less what a start with everything indexed takes.
func (b *bench) build() error {
	var ours, theirs []float64
	small := filepath.Join(b.dir, "small")
	if err := corpus.Plain(small, 1, 3); err != nil {
		return err
	}
	for i := range rounds {
		name := fmt.Sprintf("build%d", i)
		if err := b.prepare(name, small); err != nil {
			return err
		}
		d, err := b.start(name)
		if err != nil {
			return err
		}
		if err := d.Stop(); err != nil {
			return err
		}
		again, err := b.start(name)
		if err != nil {
			return err
		}
		if err := again.Stop(); err != nil {
			return err
		}
		cat, err := milliseconds(b.catFile)
		if err != nil {
			return err
		}
		ours, theirs = append(ours, float64((d.Took-again.Took).Milliseconds())), append(theirs, cat)
		_ = os.RemoveAll(filepath.Join(b.dir, name))
	}
	b.add(row{name: fmt.Sprintf("full build, %d notes", b.notes), ours: ours, theirs: theirs, unit: "ms",
		goal: "≤ 3", met: median(ours) <= 3*median(theirs)})
	return nil
}

// prepare makes a data folder with its database by serving another folder.
func (b *bench) prepare(name, folder string) error {
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	d, err := harness.StartDev(ctx, filepath.Join(b.dir, name), folder)
	if err != nil {
		return err
	}
	return d.Stop()
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
	var login string
	for name, token := range d.People {
		if token == d.Token {
			login = name
		}
	}
	token, err := d.GitHubToken(login)
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
