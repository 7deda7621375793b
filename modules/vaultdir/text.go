package vaultdir

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"vault/platform/fault"
)

// SummaryLimit is the most characters of a repository's summary that a tool
// list shows.
const SummaryLimit = 120

// oneLine puts text on one line: line ends, tabs and runs of blanks become one
// space, characters that change how text is shown are taken out.
func oneLine(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || fault.Unprintable(r):
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(visible), " ")
}

// cutLine cuts text to limit characters, at a word's end where one is near, and
// ends it with an ellipsis when something was cut.
func cutLine(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	head := firstRunes(text, limit-1)
	if space := strings.LastIndexByte(head, ' '); space > len(head)*3/4 {
		head = head[:space]
	}
	return strings.TrimRight(head, " ") + "…"
}

// firstRunes gives the first n characters of text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
