package notes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vault/modules/notes"
)

// ordinaryNote is a note as people write them, some 4 KB.
func ordinaryNote() string {
	section := "## Part `one` of *many*\n\nThis is a paragraph about [[plans/Apollo|the plan]] and [its page](../plans/Apollo.md#risks),\n" +
		"with some text that goes on for a while so that the lines are as long as lines are, and `code` in it.\n\n" +
		"- an item with text\n- [ ] a task for [[Tom]]\n  - a deeper item\n\n| a | b |\n|---|---|\n| 1 | [[x\\|y]] |\n\n> a quote\n\n```go\nfunc main() {}\n```\n\n"
	return "---\ntitle: A note\ntags: [a, b]\nstatus: draft\ncreated: 2024-05-06\nup: \"[[Home]]\"\n---\n\n# A note\n\n" + strings.Repeat(section, 9)
}

// benchTexts are the notes below NOTES_CORPUS, or one ordinary note.
func benchTexts(b *testing.B) (texts []string, size int64) {
	b.Helper()
	corpus := os.Getenv("NOTES_CORPUS")
	if corpus == "" {
		return []string{ordinaryNote()}, int64(len(ordinaryNote()))
	}
	err := filepath.WalkDir(corpus, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !notes.IsNote(path) {
			return err
		}
		data, err := os.ReadFile(path)
		texts, size = append(texts, string(data)), size+int64(len(data))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return texts, size
}

func BenchmarkParse(b *testing.B) {
	texts, size := benchTexts(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			notes.Parse(text)
		}
	}
}

func BenchmarkParseAndLinks(b *testing.B) {
	texts, size := benchTexts(b)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range texts {
			notes.Parse(text).Links()
		}
	}
}
