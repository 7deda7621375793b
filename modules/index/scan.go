package index

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/wasilibs/go-re2"
	"golang.org/x/text/unicode/norm"
)

// scanMatches is how many matches one call of the engine gives.
const scanMatches = 64

// regexLines finds the lines that a regular expression matches, each taken by
// itself. What a line matches is decided by the standard library. Since that
// is slow where an expression begins with no fixed text, RE2 looks at whole
// texts first, with an expression that cannot match beyond a line; lines that
// it finds nothing in are not looked at.
func regexLines(expr string, tree *syntax.Regexp) (lineFinder, error) {
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, err
	}
	if re.MatchString("") {
		return everyLine(re), nil // most lines match, so there is nothing to skip
	}
	whole, err := re2.Compile(withinLines(tree).String())
	if err != nil {
		return everyLine(re), nil // an expression that RE2 finds too large
	}
	return func(text string, yield func(lineHit) bool) {
		text = strings.TrimPrefix(text, bom)
		lines := &lineCursor{text: text, number: 1}
		eachLineWith(whole, flatten(text), func(number int) bool {
			hit, ok := matchLine(re, lines.line(number))
			hit.number = number
			return !ok || yield(hit)
		})
	}, nil
}

// everyLine matches line by line.
func everyLine(re *regexp.Regexp) lineFinder {
	return func(text string, yield func(lineHit) bool) {
		text = strings.TrimPrefix(text, bom)
		for number := 1; text != ""; number++ {
			var line string
			line, text, _ = strings.Cut(text, "\n")
			hit, ok := matchLine(re, strings.TrimSuffix(line, "\r"))
			hit.number = number
			if ok && !yield(hit) {
				return
			}
		}
	}
}

// flatten brings a text into the form whose lines are matched: NFC, without
// carriage returns at line ends and without the last line end.
func flatten(text string) string {
	if strings.Contains(text, "\r") {
		text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
	}
	text = strings.TrimSuffix(text, "\n")
	if !norm.NFC.IsNormalString(text) {
		text = norm.NFC.String(text)
	}
	return text
}

// eachLineWith calls f with the numbers of the lines that hold a match, until
// it returns false.
func eachLineWith(whole *re2.Regexp, text string, f func(number int) bool) {
	number := 1
	for {
		matches := whole.FindAllStringIndex(text, scanMatches)
		at, last := 0, 0
		for _, m := range matches {
			number += strings.Count(text[at:m[0]], "\n")
			at = m[0]
			if number == last {
				continue
			}
			last = number
			if !f(number) {
				return
			}
		}
		if len(matches) < scanMatches {
			return
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return
		}
		text = text[at+next+1:]
		number++
	}
}

// withinLines turns an expression about one line into one about a text of many
// that matches the same lines: nothing in it matches a line end, and the
// beginning and end of text become those of a line.
func withinLines(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	switch re.Op {
	case syntax.OpBeginText:
		out.Op = syntax.OpBeginLine
		out.Flags &^= syntax.OneLine
	case syntax.OpEndText:
		out.Op = syntax.OpEndLine
		out.Flags &^= syntax.OneLine | syntax.WasDollar
	case syntax.OpAnyChar:
		out.Op = syntax.OpAnyCharNotNL
	case syntax.OpCharClass:
		out.Rune = withoutNewline(re.Rune)
		if len(out.Rune) == 0 {
			out.Op = syntax.OpNoMatch
		}
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if r == '\n' {
				return &syntax.Regexp{Op: syntax.OpNoMatch}
			}
		}
	}
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = withinLines(sub)
	}
	return &out
}

// withoutNewline takes the line end out of a class.
func withoutNewline(ranges []rune) []rune {
	var out []rune
	for i := 0; i+1 < len(ranges); i += 2 {
		low, high := ranges[i], ranges[i+1]
		if low > '\n' || high < '\n' {
			out = append(out, low, high)
			continue
		}
		if low < '\n' {
			out = append(out, low, '\n'-1)
		}
		if high > '\n' {
			out = append(out, '\n'+1, high)
		}
	}
	return out
}
