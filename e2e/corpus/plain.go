// Package corpus writes repositories of notes for tests and benchmarks, the
// same ones every time.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// letters make words that read like words.
var letters = [2]string{"bcdfghklmnprstvw", "aeiou"}

// vocabulary is how many words there are; a few are very common, most are
// rare, as in any language.
const vocabulary = 8_000

// words makes the vocabulary. The first are fixed, so that searches know what
// is common and what is not.
func words(r *rand.Rand) []string {
	list := []string{"the", "and", "that", "information", "function", "note", "decision", "deprecated"}
	seen := map[string]bool{}
	for len(list) < vocabulary {
		var b strings.Builder
		for i := range 2 + r.IntN(3) {
			b.WriteByte(letters[0][r.IntN(len(letters[0]))])
			b.WriteByte(letters[1][r.IntN(len(letters[1]))])
			if i > 0 && r.IntN(3) == 0 {
				b.WriteByte(letters[0][r.IntN(len(letters[0]))])
			}
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return list
}

// Words that stand in a known share of the notes that Plain writes.
const (
	// Rare stands in one note of 2,000.
	Rare = "quuxrare"
	// Medium stands in one note of 20.
	Medium = "zorkmedium"
	// Code stands in one note of 100, between marks.
	Code = "std::unique_ptr"
)

// Plain writes a git repository with a work tree of ordinary notes of some
// 4.5 KB each, in one commit.
func Plain(dir string, notes int, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 1))
	vocab := words(r)
	zipf := rand.NewZipf(r, 1.2, 4, vocabulary-1)
	for i := range notes {
		path := filepath.Join(dir, Path(i))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(note(r, zipf, vocab, i)), 0o644); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		if err := Git(dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// Path is where note i of Plain stands.
func Path(i int) string { return fmt.Sprintf("area%02d/topic%03d/note-%05d.md", i%20, i%400, i) }

// note makes the text of one note.
func note(r *rand.Rand, zipf *rand.Zipf, vocab []string, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\ntitle: Note %d\ntype: %s\nstatus: %s\ntags: [a, b]\n---\n\n# Note %d\n", i,
		[]string{"note", "decision", "meeting"}[i%3], []string{"draft", "final"}[i%2], i)
	for section := range 6 {
		fmt.Fprintf(&b, "\n## Section %d\n\n", section)
		for range 4 {
			for range 22 + r.IntN(10) {
				b.WriteString(vocab[zipf.Uint64()])
				b.WriteByte(' ')
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "\nSee [[note-%05d]] and [another](../../%s), 2026-%02d-%02d.\n",
			r.IntN(i+1), Path(r.IntN(i+1)), 1+i%12, 1+i%28)
	}
	for every, word := range map[int]string{2000: Rare, 20: Medium, 100: Code} {
		if i%every == every/2 {
			fmt.Fprintf(&b, "\nThis line has %s in it.\n", word)
		}
	}
	return b.String()
}

// Git runs git in a folder with a fixed identity and without settings of the
// user.
func Git(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@example.org",
		"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.org",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}
