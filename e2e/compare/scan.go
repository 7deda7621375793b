package compare

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Scanner finds lines in the plainest way: every line of every note is looked
// at, by itself, in NFC.
type Scanner struct{ lines []line }

// line is one line in NFC, and once more without letter case.
type line struct {
	at          Hit
	text, plain string
}

// NewScanner takes the readable notes apart.
func NewScanner(notes []Note) *Scanner {
	s := &Scanner{}
	for _, n := range notes {
		if !n.Readable() || n.Text == "" || n.Text == mark {
			continue // it has no line, or only a mark
		}
		body := strings.TrimSuffix(strings.TrimPrefix(n.Text, mark), "\n")
		for i, text := range strings.Split(body, "\n") {
			text = norm.NFC.String(strings.TrimSuffix(text, "\r"))
			s.lines = append(s.lines, line{Hit{n.Path, i + 1}, text, caseless(text)})
		}
	}
	return s
}

// mark is the byte order mark.
const mark = "\ufeff"

// caseless puts the least rune in place of all that differ from it by case
// alone.
func caseless(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// Find gives the lines in which a query is found.
func (s *Scanner) Find(q Query) ([]Hit, error) {
	text := norm.NFC.String(q.Text)
	match := func(l line) bool { return strings.Contains(l.text, text) }
	switch {
	case q.Regex:
		if !q.Case {
			text = "(?i:" + text + ")"
		}
		re, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		match = func(l line) bool { return re.MatchString(l.text) }
	case !q.Case:
		text = caseless(text)
		match = func(l line) bool { return strings.Contains(l.plain, text) }
	}
	var hits []Hit
	for _, l := range s.lines {
		if match(l) {
			hits = append(hits, l.at)
		}
	}
	return hits, nil
}

// Counts counts the notes below each folder down to a depth, as the paths say.
func Counts(notes []Note, depth int) (paths []string, counts map[string]int) {
	counts = map[string]int{}
	for _, n := range notes {
		for dir := path.Dir(n.Path); dir != "."; dir = path.Dir(dir) {
			if strings.Count(dir, "/") < depth {
				counts[dir+"/"]++
			}
		}
	}
	for p := range counts {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	return paths, counts
}
