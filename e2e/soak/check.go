package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vault/e2e/compare"
)

// visibleLimit bounds how long a push may take to be seen.
const visibleLimit = 30 * time.Second

// seen waits until the newest change can be read, and gives how long that
// took.
func (m *model) seen(v compare.Vault) (time.Duration, error) {
	start := time.Now()
	var difference string
	var err error
	for time.Since(start) < visibleLimit {
		if difference, err = v.CheckText(marker, m.notes[marker]); err == nil && difference == "" {
			return time.Since(start), nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, fmt.Errorf("change %d was not seen within %s: %s %w", m.version, visibleLimit, difference, err)
}

// check compares vault's answers with the notes as they are now.
func (m *model) check(v compare.Vault) error {
	paths, total, err := v.List(200)
	if err != nil {
		return err
	}
	want := append(m.paths(), marker)
	slices.Sort(want)
	if !slices.Equal(paths, want) || total != len(want) {
		return fmt.Errorf("at change %d the list has %d notes (total %d), and there are %d", m.version, len(paths), total, len(want))
	}
	for range 3 {
		path := want[m.r.IntN(len(want))]
		difference, err := v.CheckText(path, m.notes[path])
		if err != nil || difference != "" {
			return fmt.Errorf("at change %d %s: %s %w", m.version, path, difference, err)
		}
	}
	return m.checkSearch(v, fmt.Sprintf("word%d", m.r.IntN(1000)))
}

// checkSearch compares one search.
func (m *model) checkSearch(v compare.Vault, word string) error {
	var want []compare.Hit
	for _, path := range append(m.paths(), marker) {
		for i, line := range strings.Split(m.notes[path], "\n") {
			if strings.Contains(line, word) {
				want = append(want, compare.Hit{Path: path, Line: i + 1})
			}
		}
	}
	got, _, err := v.Search(compare.Query{Text: word}, 1000)
	if err != nil {
		return err
	}
	if d := compare.Difference(got, want); d != "" {
		return fmt.Errorf("at change %d the search for %s: %s", m.version, word, d)
	}
	return nil
}
