package corpus

import (
	"math/rand/v2"
	"strings"
)

// letters make words that read like words.
var letters = [2]string{"bcdfghklmnprstvw", "aeiou"}

// vocabulary is how many words there are; a few are very common, most are
// rare, as in any language.
const vocabulary = 8_000

// writer makes text out of words whose frequency falls as Zipf's law has it.
type writer struct {
	r     *rand.Rand
	zipf  *rand.Zipf
	words []string
}

func newWriter(seed uint64) *writer {
	r := rand.New(rand.NewPCG(seed, 1))
	w := &writer{r: r, words: words(r)}
	w.zipf = rand.NewZipf(r, 1.2, 4, vocabulary-1)
	return w
}

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

// word gives one word.
func (w *writer) word() string { return w.words[w.zipf.Uint64()] }

// line gives n words and a line end.
func (w *writer) line(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = w.word()
	}
	return strings.Join(list, " ") + "\n"
}

// lines gives n lines of an ordinary length.
func (w *writer) lines(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(w.line(8 + w.r.IntN(20)))
	}
	return b.String()
}
