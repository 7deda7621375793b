package notes

import "strings"

const (
	// maxParens is how deep parentheses may nest in a destination; cmark has
	// the same limit, which keeps a scan short.
	maxParens = 32
	// maxLabel is the longest reference label (CommonMark 0.31, 4.7).
	maxLabel = 999
)

// tail is what follows the label of an inline link or a definition.
type tail struct {
	destStart, destEnd int
	angle              bool
	end                int
}

// inlineTail reads `(destination "title")` at offset i.
func inlineTail(s string, i int) (tail, bool) {
	if i >= len(s) || s[i] != '(' {
		return tail{}, false
	}
	at := skipSpace(s, i+1)
	t, ok := destinationAt(s, at)
	if !ok {
		return tail{}, false
	}
	at = skipSpace(s, t.end)
	if at > t.end {
		if end, ok := titleAt(s, at); ok {
			at = skipSpace(s, end)
		}
	}
	if at >= len(s) || s[at] != ')' {
		return tail{}, false
	}
	t.end = at + 1
	return t, true
}

// definitionAt reads the link reference definition on the line that starts at
// offset at and gives it with the offset of the line behind it. The line is one
// of a paragraph, so its indentation does not matter.
func definitionAt(s string, at int) (Link, int, bool) {
	start := at + len(s[at:]) - len(strings.TrimLeft(s[at:], " \t"))
	end, ok := labelAt(s, start)
	if !ok || s[start+1] == '^' || end >= len(s) || s[end] != ':' {
		return Link{}, 0, false
	}
	t, ok := destinationAt(s, skipSpace(s, end+1))
	if !ok || t.destStart == t.destEnd && !t.angle {
		return Link{}, 0, false
	}
	next, ok := restOfLine(s, t.end)
	if titleStart := skipSpace(s, t.end); titleStart > t.end {
		if titleEnd, isTitle := titleAt(s, titleStart); isTitle {
			if behind, blank := restOfLine(s, titleEnd); blank {
				next, ok, t.end = behind, true, titleEnd
			}
		}
	}
	if !ok {
		return Link{}, 0, false
	}
	link := Link{Form: FormDefinition, Start: start, End: t.end, Label: s[start+1 : end-1], Angle: t.angle}
	link.setDestination(s, t.destStart, t.destEnd)
	return link, next, true
}

// restOfLine reports whether nothing but blanks follows on the line and gives
// the offset of the next line.
func restOfLine(s string, i int) (int, bool) {
	for ; i < len(s); i++ {
		if s[i] == '\n' {
			return i + 1, true
		}
		if !isSpace(s[i]) {
			return 0, false
		}
	}
	return i, true
}

// labelAt reads `[label]` at offset i and gives the offset behind it.
func labelAt(s string, i int) (int, bool) {
	if i >= len(s) || s[i] != '[' {
		return 0, false
	}
	limit := min(len(s), i+maxLabel+2)
	blank := true
	for at := i + 1; at < limit; at++ {
		switch c := s[at]; {
		case c == '[':
			return 0, false
		case c == ']':
			return at + 1, !blank
		case c == '\\' && at+1 < limit && isPunct(s[at+1]):
			at++
			blank = false
		case !isSpace(c):
			blank = false
		}
	}
	return 0, false
}

// destinationAt reads a link destination at offset i (CommonMark 0.31, 6.3).
func destinationAt(s string, i int) (tail, bool) {
	if i < len(s) && s[i] == '<' {
		return angleDestination(s, i)
	}
	depth, at := 0, i
scan:
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c == '\\' && at+1 < len(s) && isPunct(s[at+1]):
			at++
		case c == '(':
			if depth++; depth > maxParens {
				return tail{}, false
			}
		case c == ')' && depth == 0:
			break scan
		case c == ')':
			depth--
		case c <= ' ' || c == 0x7F:
			break scan
		}
	}
	return tail{destStart: i, destEnd: at, end: at}, depth == 0
}

func angleDestination(s string, i int) (tail, bool) {
	for at := i + 1; at < len(s); at++ {
		switch c := s[at]; {
		case c == '\\' && at+1 < len(s) && isPunct(s[at+1]):
			at++
		case c == '\n' || c == '<':
			return tail{}, false
		case c == '>':
			return tail{destStart: i + 1, destEnd: at, angle: true, end: at + 1}, true
		}
	}
	return tail{}, false
}

// titleAt reads a link title at offset i and gives the offset behind it.
func titleAt(s string, i int) (int, bool) {
	if i >= len(s) {
		return 0, false
	}
	closing := s[i]
	switch closing {
	case '"', '\'':
	case '(':
		closing = ')'
	default:
		return 0, false
	}
	for at := i + 1; at < len(s); at++ {
		switch c := s[at]; {
		case c == '\\' && at+1 < len(s) && isPunct(s[at+1]):
			at++
		case c == closing:
			return at + 1, true
		case c == '(' && closing == ')':
			return 0, false
		}
	}
	return 0, false
}

// skipSpace skips blanks and at most one line break.
func skipSpace(s string, i int) int {
	for broken := false; i < len(s) && isSpace(s[i]); i++ {
		if s[i] == '\n' {
			if broken {
				return i
			}
			broken = true
		}
	}
	return i
}
