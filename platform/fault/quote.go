package fault

import (
	"crypto/rand"
	"encoding/base32"
	"strings"
	"unicode"
	"unicode/utf8"
)

// QuoteLimit is the most characters of an untrusted string that Quote shows.
const QuoteLimit = 200

// Quote makes an untrusted string safe inside a sentence of ours: one line, in
// double quotes, at most QuoteLimit characters, without control or
// bidirectional characters. Quotes inside become typographic ones, so that the
// string cannot end its own quotation.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for _, r := range s {
		if n == QuoteLimit {
			b.WriteRune('…')
			break
		}
		b.WriteRune(quoteRune(r))
		n++
	}
	b.WriteByte('"')
	return b.String()
}

func quoteRune(r rune) rune {
	switch {
	case r == '"':
		return '”'
	case r == utf8.RuneError || Unprintable(r):
		return '\uFFFD'
	case unicode.IsSpace(r):
		return ' '
	}
	return r
}

// Unprintable reports characters that change how text around them is shown:
// control characters, line and paragraph separators, bidirectional controls
// and invisible formatting characters.
func Unprintable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.Is(unicode.Bidi_Control, r) || r == '\uFEFF' || (r >= 0xE0000 && r <= 0xE007F)
}

// QuoteList quotes each string and joins them with commas.
func QuoteList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = Quote(s)
	}
	return strings.Join(quoted, ", ")
}

// NewReference makes the id that ties an outward answer to the log line with
// its cause: 13 characters from 64 random bits.
func NewReference() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}
