package notes

import (
	"sort"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Contains reports whether a line holds a query that has gone through Fold,
// where neither letter case nor Unicode form counts. It is the check behind
// the folded column: Contains(line, q) is strings.Contains(Fold(line), q).
func Contains(line, foldedQuery string) bool {
	if len(line) <= asciiEnd(line, 0) {
		return asciiContains(line, foldedQuery)
	}
	return strings.Contains(Fold(line), foldedQuery)
}

// asciiContains is Contains for a line that is ASCII, without a copy of it.
func asciiContains(line, folded string) bool {
	if folded == "" {
		return true
	}
	low, up := folded[0], folded[0]
	if 'a' <= low && low <= 'z' {
		up = low - 'a' + 'A'
	}
	for i := 0; i+len(folded) <= len(line); i++ {
		if c := line[i]; (c == low || c == up) && asciiFoldsTo(line[i:i+len(folded)], folded) {
			return true
		}
	}
	return false
}

func asciiFoldsTo(s, folded string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}

// FindFold finds the first place where a line holds a query as the user typed
// it and gives its byte offsets in the line as it stands. Unicode form does
// not count, letter case only when caseSensitive says so. A match that covers
// part of a composed character covers the whole of it. An empty query is found
// at the start.
func FindFold(line, query string, caseSensitive bool) (start, end int, ok bool) {
	if asciiEnd(line, 0) == len(line) {
		return findASCII(line, query, caseSensitive)
	}
	if caseSensitive {
		query = norm.NFC.String(query)
	} else {
		query = Fold(query)
	}
	folded := foldMapped(line, caseSensitive)
	at := strings.Index(folded.text, query)
	if at < 0 {
		return 0, 0, false
	}
	if query == "" {
		return 0, 0, true
	}
	start, _ = folded.span(at)
	_, end = folded.span(at + len(query) - 1)
	return start, end, true
}

func findASCII(line, query string, caseSensitive bool) (start, end int, ok bool) {
	if caseSensitive {
		start = strings.Index(line, norm.NFC.String(query))
	} else {
		query = Fold(query)
		start = strings.Index(Fold(line), query)
	}
	if start < 0 {
		return 0, 0, false
	}
	return start, start + len(query), true
}

// mapped is a folded text that knows where each of its pieces came from.
type mapped struct {
	text   string
	pieces []piece // ascending; the last one marks both ends
}

type piece struct{ to, from int }

// foldMapped folds a line piece by piece: a piece is what NFC composes
// together, so nothing across its border changes.
func foldMapped(line string, caseSensitive bool) mapped {
	var out strings.Builder
	var pieces []piece
	var iter norm.Iter
	iter.InitString(norm.NFC, line)
	for !iter.Done() {
		pieces = append(pieces, piece{to: out.Len(), from: iter.Pos()})
		composed := string(iter.Next())
		if caseSensitive {
			out.WriteString(composed)
		} else {
			foldInto(&out, composed)
		}
	}
	pieces = append(pieces, piece{to: out.Len(), from: len(line)})
	return mapped{text: out.String(), pieces: pieces}
}

// span gives the bytes of the original that the folded byte at offset came
// from.
func (m mapped) span(offset int) (start, end int) {
	i := sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].to > offset }) - 1
	return m.pieces[i].from, m.pieces[i+1].from
}
