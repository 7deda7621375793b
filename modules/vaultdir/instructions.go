package vaultdir

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"vault/platform/fault"
)

const (
	// InstructionsLimit is the most characters of a repository's instructions
	// that an assistant is told.
	InstructionsLimit = 2000
	// sectionLevel is the level of the heading under which a repository's
	// instructions stand; headings inside them are deeper.
	sectionLevel = 2
	// maxInstructions is the largest instructions.md, in bytes.
	maxInstructions = 64 << 10
)

func (r *Repo) loadInstructions(text string) []Finding {
	instructions, findings := readInstructions(text)
	if r.closed == "" {
		r.instructions = instructions
	}
	return findings
}

// readInstructions gives the instructions in the form an assistant may see:
// visible characters only, headings pushed below the section's, not longer than
// the limit, no block left open that could swallow what follows.
func readInstructions(text string) (string, []Finding) {
	d := &document{path: InstructionsPath, text: []byte(text)}
	if len(text) > maxInstructions {
		return "", []Finding{*d.whole(RuleSyntax, "the file is larger than %d KiB", maxInstructions>>10)}
	}
	if at := d.invalidByte(); at >= 0 {
		return "", []Finding{d.at(at, RuleSyntax, "the file is not text: it holds NUL or bytes that are not UTF-8")}
	}
	visible, taken := visibleLines(text)
	var findings []Finding
	if taken >= 0 {
		f := d.at(taken, RuleText, "characters that change how the text around them is shown are taken out, from here on")
		f.Severity = Warning
		findings = append(findings, f)
	}
	body := contain(visible)
	if n := utf8.RuneCountInString(pushHeadings(visible)); n > InstructionsLimit {
		findings = append(findings, Finding{
			Path: InstructionsPath, Severity: Warning, Rule: RuleText,
			Message: fmt.Sprintf("the instructions have %d characters; assistants are told the first %d", n, InstructionsLimit),
		})
	}
	return body, findings
}

// visibleLines brings line ends to LF, tabs to blanks, takes out what cannot
// be seen and trims blank lines at both ends. taken is the offset of the first
// character that was taken out without a trace, -1 if none was.
func visibleLines(text string) (visible string, taken int) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	taken = -1
	var b strings.Builder
	for i, r := range text {
		switch {
		case r == '\n':
			b.WriteByte('\n')
		case r == '\t':
			b.WriteString("    ")
		case r == '\uFEFF' && i == 0:
		case r == utf8.RuneError || fault.Unprintable(r):
			if taken < 0 {
				taken = i
			}
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimRightFunc(strings.Trim(b.String(), "\n"), unicode.IsSpace), taken
}

// contain makes text safe to stand in a section of its own: cut to the limit,
// headings below the section's, no block left open that reaches out of it.
// Should a construction still do so, whatever opens blocks or makes headings is
// replaced.
func contain(text string) string {
	pushed := pushHeadings(text)
	if body := closeComment(cutBlock(pushed, InstructionsLimit)); contained(body) &&
		utf8.RuneCountInString(body) <= InstructionsLimit {
		return body
	}
	for limit := InstructionsLimit; limit > InstructionsLimit/2; {
		body := closeBlocks(cutBlock(pushed, limit))
		over := utf8.RuneCountInString(body) - InstructionsLimit
		if over <= 0 && contained(body) {
			return body
		}
		if over <= 0 {
			break
		}
		limit -= over
	}
	return cutBlock(defang(text), InstructionsLimit)
}

// defang leaves no heading, fence, HTML or comment in text: the characters that
// make them become look-alikes that mean nothing in Markdown.
func defang(text string) string {
	return dropUnderlines(strings.NewReplacer("<", "‹", "`", "ˋ", "~", "∼", "#", "♯").Replace(text))
}

// cutBlock cuts text to limit characters, at the end of a paragraph, a line or
// a word, whichever comes first in its last quarter, and says so by an
// ellipsis on a line of its own.
func cutBlock(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	const mark = "\n\n…"
	head := firstRunes(text, limit-utf8.RuneCountInString(mark))
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(head, end); i > len(head)*3/4 {
			head = head[:i]
			break
		}
	}
	return strings.TrimRightFunc(head, unicode.IsSpace) + mark
}
