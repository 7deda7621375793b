package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault/e2e/corpus"
)

// marker is the note that says how many changes were pushed.
const marker = "marker.md"

// model is a clone and what its notes hold.
type model struct {
	r       *rand.Rand
	clone   string
	url     string
	version int
	notes   map[string]string
}

// newModel makes a repository with some notes and pushes it.
func newModel(clone, url string, seed uint64) (*model, error) {
	m := &model{r: rand.New(rand.NewPCG(seed, 2)), clone: clone, url: url, notes: map[string]string{}}
	if err := os.MkdirAll(clone, 0o755); err != nil {
		return nil, err
	}
	if err := corpus.Git(clone, "init", "-q", "-b", "main"); err != nil {
		return nil, err
	}
	for i := range 200 {
		m.notes[fmt.Sprintf("area%d/note-%03d.md", i%7, i)] = m.text(i)
	}
	for path, text := range m.notes {
		if err := m.write(path, text); err != nil {
			return nil, err
		}
	}
	return m, m.push(false)
}

// text makes the text of a note.
func (m *model) text(i int) string {
	return fmt.Sprintf("---\ntitle: Note %d\ntype: note\n---\n# Note\n\nword%d of change %d\n", i, m.r.IntN(1000), m.version)
}

func (m *model) write(path, text string) error {
	m.notes[path] = text
	file := filepath.Join(m.clone, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

func (m *model) remove(path string) error {
	delete(m.notes, path)
	return os.Remove(filepath.Join(m.clone, path))
}

// paths lists the notes in order, the marker left out.
func (m *model) paths() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.notes)), func(p string) bool { return p == marker })
}

// change changes some notes, adds, moves and removes some, and pushes. Now and
// then the last commit is written anew, so that the push is forced.
func (m *model) change() error {
	paths := m.paths()
	m.r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	n := 1 + m.r.IntN(4)
	for i, path := range paths[:n] {
		if err := m.write(path, m.text(i)); err != nil {
			return err
		}
	}
	if err := m.write(fmt.Sprintf("new/note-%d.md", m.version), m.text(m.version)); err != nil {
		return err
	}
	moved := paths[n]
	text := m.notes[moved]
	if err := m.remove(moved); err != nil {
		return err
	}
	if err := m.write(fmt.Sprintf("moved/%d/%s", m.version%5, strings.ReplaceAll(moved, "/", "-")), text); err != nil {
		return err
	}
	if len(paths) > 150 {
		if err := m.remove(paths[n+1]); err != nil {
			return err
		}
	}
	return m.push(m.version%11 == 10)
}

// push commits everything and pushes it.
func (m *model) push(anew bool) error {
	m.version++
	if err := m.write(marker, fmt.Sprintf("change %d is here\n", m.version)); err != nil {
		return err
	}
	commit := []string{"commit", "-q", "-m", fmt.Sprintf("Change %d", m.version)}
	if anew {
		commit = append(commit, "--amend")
	}
	for _, args := range [][]string{{"add", "-A"}, commit, {"push", "-q", "--force", m.url, "HEAD:main"}} {
		if err := corpus.Git(m.clone, args...); err != nil {
			return err
		}
	}
	return nil
}
