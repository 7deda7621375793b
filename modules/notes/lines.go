package notes

import (
	"sort"
	"strings"
)

// Lines is a text cut into lines. Lines end at "\n" and nowhere else, so that
// their numbers agree with git's; a final newline ends the last line and
// starts none, and an empty text has no line. Numbers start at 1.
type Lines struct {
	text   string
	starts []int
}

// LinesOf cuts a text into lines.
func LinesOf(text string) Lines {
	if text == "" {
		return Lines{}
	}
	starts := make([]int, 1, strings.Count(text, "\n")+1)
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 || at+next+1 == len(text) {
			return Lines{text: text, starts: starts}
		}
		at += next + 1
		starts = append(starts, at)
	}
}

// Count gives the number of lines.
func (l Lines) Count() int { return len(l.starts) }

// Line gives line n without its line end, "\n" or "\r\n". A number that is no
// line's gives the empty string.
func (l Lines) Line(n int) string {
	text := strings.TrimSuffix(l.Slice(n, n), "\n")
	return strings.TrimSuffix(text, "\r")
}

// Offset gives the byte offset at which line n starts. Numbers below the first
// line give 0, beyond the last the length of the text.
func (l Lines) Offset(n int) int {
	switch {
	case n <= 1:
		return 0
	case n > len(l.starts):
		return len(l.text)
	}
	return l.starts[n-1]
}

// At gives the number of the line that holds the byte at offset. An offset
// beyond the end belongs to the last line; an empty text gives 0.
func (l Lines) At(offset int) int {
	return sort.Search(len(l.starts), func(i int) bool { return l.starts[i] > offset })
}

// Slice gives lines from to to, both included, exactly as they stand, line
// ends included. Numbers outside the text are cut to it; a range that holds no
// line gives the empty string.
func (l Lines) Slice(from, to int) string {
	from, to = max(from, 1), min(to, len(l.starts))
	if from > to {
		return ""
	}
	return l.text[l.starts[from-1]:l.Offset(to+1)]
}
