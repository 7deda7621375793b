// Package corpus writes repositories of notes for tests and benchmarks, the
// same ones every time: ordinary notes in any number, and a collection of
// everything odd that a repository of notes can hold.
package corpus

import (
	"fmt"
	"strings"
)

// Words that stand in a known share of the notes that Plain writes.
const (
	// Rare stands in one note of 2,000.
	Rare = "quuxrare"
	// Medium stands in one note of 20.
	Medium = "zorkmedium"
	// Code stands in one note of 100, between marks.
	Code = "std::unique_ptr"
)

// shares says which of them stands in one note of how many.
var shares = []struct {
	every int
	word  string
}{{2000, Rare}, {20, Medium}, {100, Code}}

// Plain writes a git repository with a work tree of ordinary notes of some
// 4.5 KB each, in one commit.
func Plain(dir string, notes int, seed uint64) error {
	w := newWriter(seed)
	files := make([]file, notes)
	for i := range files {
		files[i] = file{Path(i), regular, w.note(i)}
	}
	return write(dir, []change{{subject: "Begin", author: "Bench", files: files}})
}

// Path is where note i of Plain stands.
func Path(i int) string { return fmt.Sprintf("area%02d/topic%03d/note-%05d.md", i%20, i%400, i) }

// note makes the text of one note.
func (w *writer) note(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: Note %d\ntype: %s\nstatus: %s\ntags: [a, b]\n---\n\n# Note %d\n", i,
		[]string{"note", "decision", "meeting"}[i%3], []string{"draft", "final"}[i%2], i)
	for section := range 6 {
		fmt.Fprintf(&b, "\n## Section %d\n\n", section)
		for range 4 {
			b.WriteString(w.line(20 + w.r.IntN(10)))
		}
		fmt.Fprintf(&b, "\nSee [[note-%05d]] and [another](../../%s), 2026-%02d-%02d.\n",
			w.r.IntN(i+1), Path(w.r.IntN(i+1)), 1+i%12, 1+i%28)
	}
	b.WriteString("\n| Name | Owner | Due |\n| --- | --- | --- |\n")
	for range 4 {
		fmt.Fprintf(&b, "| %s %s | %s | 2026-%02d-01 |\n", w.word(), w.word(), w.word(), 1+i%12)
	}
	for _, s := range shares {
		if i%s.every == s.every/2 {
			fmt.Fprintf(&b, "\nThis line has %s in it.\n", s.word)
		}
	}
	return b.String()
}
