package index

import (
	"errors"

	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/platform/fault"
)

const (
	// regexLimit is the longest regular expression, in characters.
	regexLimit = 500
	// regexNodes bounds what a regular expression unfolds to once its
	// repetitions are written out.
	regexNodes = 5000
)

// parseRegex reads a regular expression of RE2 syntax with smart case, and
// gives it as text for the engine and as a tree.
func parseRegex(query string) (expr string, tree *syntax.Regexp, err error) {
	if n := utf8.RuneCountInString(query); n > regexLimit {
		return "", nil, fault.Invalid("The regular expression has %d characters; at most %d are taken", n, regexLimit).On("query")
	}
	expr = norm.NFC.String(query)
	flags := syntax.Perl
	if _, err := syntax.Parse(expr, flags); err != nil {
		return "", nil, badRegex(query, err)
	}
	if !literalUpper(expr) {
		flags |= syntax.FoldCase
		expr = "(?i:" + expr + ")"
	}
	tree, err = syntax.Parse(expr, flags)
	if err != nil {
		return "", nil, badRegex(query, err)
	}
	if countNodes(tree.Simplify(), regexNodes) > regexNodes {
		return "", nil, fault.Invalid("The regular expression repeats too much").
			Fix("Use smaller repeat counts").On("query")
	}
	return expr, tree, nil
}

// countNodes counts the nodes of a tree, stopping above limit.
func countNodes(re *syntax.Regexp, limit int) int {
	n := 1 + len(re.Rune)/8
	for _, sub := range re.Sub {
		if n > limit {
			return n
		}
		n += countNodes(sub, limit-n)
	}
	return n
}

// badRegex says what is wrong with a regular expression and where.
func badRegex(query string, err error) error {
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return fault.Invalid("The regular expression cannot be read").On("query").Because(err)
	}
	what := string(bad.Code)
	at := strings.Index(query, bad.Expr)
	switch bad.Code {
	case syntax.ErrMissingParen:
		at = unclosed(query)
	case syntax.ErrUnexpectedParen:
		at = strings.LastIndexByte(query, ')')
	case syntax.ErrInvalidRepeatSize:
		what = "repeat count over 1000, or counts inside counts that multiply to more"
	}
	if at < 0 {
		at = 0
	}
	position := utf8.RuneCountInString(query[:at]) + 1
	return fault.Invalid("The regular expression cannot be read: %s at character %d: %s", what, position, fault.Quote(bad.Expr)).
		Fix("Mend it, or leave regex out to search for the text as it stands").On("query")
}

// unclosed gives the offset of the last parenthesis that nothing closes.
func unclosed(query string) int {
	var open []int
	for i, c := range scanRegex(query) {
		switch {
		case c.plain && c.text == "(":
			open = append(open, i)
		case c.plain && c.text == ")" && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// literalUpper reports whether a regular expression holds an upper-case letter
// that stands for itself. Letters of escapes, group names, flags and names of
// classes do not count.
func literalUpper(expr string) bool {
	for _, c := range scanRegex(expr) {
		if c.letter != 0 && (unicode.IsUpper(c.letter) || unicode.IsTitle(c.letter)) {
			return true
		}
	}
	return false
}

// piece is one step through a regular expression's text.
type regexPiece struct {
	text   string
	letter rune // the character it stands for, 0 if it stands for none
	plain  bool // an unescaped character outside a class
}

// scanRegex walks through the text of a regular expression, with the offset
// of each piece.
func scanRegex(expr string) func(yield func(int, regexPiece) bool) {
	return func(yield func(int, regexPiece) bool) {
		inClass := false
		for i := 0; i < len(expr); {
			piece := nextPiece(expr[i:], inClass)
			switch {
			case piece.text == "[" && !inClass:
				inClass = true
				if strings.HasPrefix(expr[i+1:], "]") {
					piece.text = "[]"
				} else if strings.HasPrefix(expr[i+1:], "^]") {
					piece.text = "[^]"
				}
			case piece.text == "]" && inClass:
				inClass = false
			}
			if !yield(i, piece) {
				return
			}
			i += len(piece.text)
		}
	}
}

// nextPiece cuts the first piece off.
func nextPiece(s string, inClass bool) regexPiece {
	switch {
	case s[0] == '\\':
		return escapePiece(s)
	case inClass && strings.HasPrefix(s, "[:"):
		if end := strings.Index(s, ":]"); end > 0 {
			return regexPiece{text: s[:end+2]}
		}
	case !inClass && strings.HasPrefix(s, "(?"):
		if end := strings.IndexAny(s, ":)>"); end > 0 {
			return regexPiece{text: s[:end+1]}
		}
	}
	r, size := utf8.DecodeRuneInString(s)
	return regexPiece{text: s[:size], letter: r, plain: !inClass}
}

// escapePiece cuts an escape off.
func escapePiece(s string) regexPiece {
	if len(s) < 2 {
		return regexPiece{text: s}
	}
	switch s[1] {
	case 'Q':
		// Up to \E everything stands for itself; letters are all that counts.
		body, _, _ := strings.Cut(s[2:], `\E`)
		piece := regexPiece{text: s[:min(len(s), 2+len(body)+2)]}
		for _, r := range body {
			if unicode.IsUpper(r) || unicode.IsTitle(r) {
				piece.letter = r
			}
		}
		return piece
	case 'p', 'P', 'x':
		if strings.HasPrefix(s[2:], "{") {
			if end := strings.IndexByte(s, '}'); end > 0 {
				return regexPiece{text: s[:end+1], letter: hexRune(s[1], s[3:end])}
			}
		}
		if s[1] == 'x' && len(s) >= 4 {
			return regexPiece{text: s[:4], letter: hexRune('x', s[2:4])}
		}
		_, size := utf8.DecodeRuneInString(s[2:])
		return regexPiece{text: s[:2+size]}
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return regexPiece{text: s[:1+size]}
}

// hexRune reads the character that \x names.
func hexRune(kind byte, digits string) rune {
	if kind != 'x' {
		return 0
	}
	n, err := strconv.ParseInt(digits, 16, 32)
	if err != nil {
		return 0
	}
	return rune(n)
}
