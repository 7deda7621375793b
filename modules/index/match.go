package index

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/modules/notes"
	"vault/platform/fault"
)

// shownRunes is how much of a line is shown, in characters.
const shownRunes = 300

// pattern is a compiled search.
type pattern struct {
	// need is what a note must hold for the search index to find it; empty
	// when the index is of no use.
	need need
	// like is a folded text that every match holds and that is too short for
	// the index; "" without one.
	like string
	// lines finds the matching lines of a text.
	lines lineFinder
}

// filter gives texts one of which every match holds, to be looked for without
// the index; none if nothing is known.
func (p pattern) filter() clause {
	if p.like != "" {
		return clause{p.like}
	}
	if len(p.need) > 0 {
		return p.need[0]
	}
	return nil
}

// lineFinder calls yield with each line that matches, in order: its number
// from 1, the line without its end, and where in it the first match stands.
// It stops when yield returns false.
type lineFinder func(text string, yield func(hit lineHit) bool)

type lineHit struct {
	number     int
	line       string
	start, end int
}

// compile makes a pattern of a query.
func compile(query string, regex bool) (pattern, error) {
	if query == "" {
		return pattern{}, fault.Invalid("The query is empty").On("query")
	}
	if !regex {
		return compileLiteral(query), nil
	}
	expr, tree, err := parseRegex(query)
	if err != nil {
		return pattern{}, err
	}
	lines, err := regexLines(expr, tree)
	if err != nil {
		return pattern{}, badRegex(query, err)
	}
	return pattern{need: needOf(tree), lines: lines}, nil
}

func compileLiteral(query string) pattern {
	folded := notes.Fold(query)
	p := pattern{like: folded}
	if hasTrigram(folded) {
		p.need = need{clause{folded}}
	}
	if notes.HasUpper(query) {
		p.lines = literalLines(norm.NFC.String(query), query, norm.NFC.String, true)
	} else {
		p.lines = literalLines(folded, query, notes.Fold, false)
	}
	return p
}

// literalLines finds the lines that hold a text, both in the form that prepare
// gives. That form keeps line ends, so that line numbers stay.
func literalLines(needle, query string, prepare func(string) string, caseCounts bool) lineFinder {
	return func(text string, yield func(lineHit) bool) {
		if strings.Contains(needle, "\n") {
			return
		}
		text = strings.TrimPrefix(text, bom)
		ready := prepare(text)
		number, at := 1, 0
		original := lineCursor{text: text, number: 1}
		for {
			found := strings.Index(ready[at:], needle)
			if found < 0 {
				return
			}
			number += strings.Count(ready[at:at+found], "\n")
			at += found
			line := original.line(number)
			// The text around may be prepared together with what follows the
			// line, and a carriage return at its end is no part of it.
			if start, end, ok := notes.FindFold(line, query, caseCounts); ok {
				if !yield(lineHit{number: number, line: line, start: start, end: end}) {
					return
				}
			}
			next := strings.IndexByte(ready[at:], '\n')
			if next < 0 {
				return
			}
			at += next + 1
			number++
		}
	}
}

const bom = "\uFEFF"

// lineCursor gives lines of a text by ascending numbers.
type lineCursor struct {
	text   string // what starts with line number
	number int
}

func (c *lineCursor) line(number int) string {
	for ; c.number < number; c.number++ {
		_, c.text, _ = strings.Cut(c.text, "\n")
	}
	line, _, _ := strings.Cut(c.text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// matchLine matches one line in NFC and says where the match stands in the
// line as it is.
func matchLine(re *regexp.Regexp, line string) (lineHit, bool) {
	normal := line
	if !norm.NFC.IsNormalString(line) {
		normal = norm.NFC.String(line)
	}
	loc := re.FindStringIndex(normal)
	if loc == nil {
		return lineHit{}, false
	}
	hit := lineHit{line: line, start: loc[0], end: loc[1]}
	if normal != line {
		hit.start, hit.end = beforeNFC(line, loc[0]), beforeNFC(line, loc[1])
	}
	return hit, true
}

// beforeNFC gives the offset in a line that an offset in its NFC came from.
func beforeNFC(line string, offset int) int {
	var iter norm.Iter
	iter.InitString(norm.NFC, line)
	for done := 0; !iter.Done(); {
		from := iter.Pos()
		if done += len(iter.Next()); done > offset {
			return from
		}
	}
	return len(line)
}

// shown gives a line as it is shown: whole, or 300 characters around the
// match.
func (h lineHit) shown() (text string, shortened bool) {
	if len(h.line) <= shownRunes || utf8.RuneCountInString(h.line) <= shownRunes {
		return h.line, false
	}
	match := min(utf8.RuneCountInString(h.line[h.start:h.end]), shownRunes)
	before := utf8.RuneCountInString(h.line[:h.start])
	after := utf8.RuneCountInString(h.line[h.end:])
	lead := min((shownRunes-match)/2, before)
	if rest := shownRunes - match - lead; after < rest {
		lead = min(before, shownRunes-match-after)
	}
	from := h.start
	for range lead {
		_, size := utf8.DecodeLastRuneInString(h.line[:from])
		from -= size
	}
	to := from
	for range shownRunes {
		_, size := utf8.DecodeRuneInString(h.line[to:])
		to += size
	}
	return h.line[from:to], true
}
