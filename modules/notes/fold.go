package notes

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The runes below foldTableEnd are folded by table; those up to
// foldCaselessEnd are CJK and know no case.
const (
	foldTableEnd    = 0x3000
	foldCaselessEnd = 0xA000
)

// Fold makes two texts equal when letter case and Unicode form are all that
// tells them apart: the text is brought to NFC, then each rune becomes the
// representative of its simple-folding orbit. That is the equality of (?i) in
// a regular expression: σ, ς and Σ are one, so are k, K and the Kelvin sign;
// ß is not ss, İ is not i, and é is not e.
//
// Newlines stay, so line numbers do; byte offsets do not. The stored column
// and every query go through Fold once. It is not meant to be applied twice.
func Fold(s string) string {
	i := foldStart(s)
	if i == len(s) {
		return s
	}
	if end := asciiEnd(s, i); end < len(s) {
		s = norm.NFC.String(s)
		i = min(i, foldStart(s))
	}
	var out strings.Builder
	out.Grow(len(s))
	out.WriteString(s[:i])
	foldInto(&out, s[i:])
	return out.String()
}

// FoldRune gives the representative of a rune's simple-folding orbit: the
// ASCII lower-case letter if the orbit has one, else the smallest rune.
func FoldRune(r rune) rune {
	if r < foldTableEnd {
		return foldTable()[max(r, 0)]
	}
	if r < foldCaselessEnd {
		return r
	}
	return orbitHead(r)
}

var foldTable = sync.OnceValue(func() *[foldTableEnd]rune {
	var table [foldTableEnd]rune
	for r := range table {
		table[r] = orbitHead(rune(r))
	}
	return &table
})

func orbitHead(r rune) rune {
	head := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		head = min(head, next)
	}
	if 'A' <= head && head <= 'Z' {
		return head + 'a' - 'A'
	}
	return head
}

// foldStart gives the offset of the first byte that folding may change.
func foldStart(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return i
		}
	}
	return len(s)
}

// asciiEnd gives the offset, from i on, of the first byte outside ASCII.
func asciiEnd(s string, i int) int {
	const word = 8
	for ; i+word <= len(s); i += word {
		if (s[i]|s[i+1]|s[i+2]|s[i+3]|s[i+4]|s[i+5]|s[i+6]|s[i+7])&0x80 != 0 {
			break
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return len(s)
}

// foldInto writes the fold of s, which is in NFC.
func foldInto(out *strings.Builder, s string) {
	for s != "" {
		end := asciiEnd(s, 0)
		lowerInto(out, s[:end])
		s = s[end:]
		for s != "" && s[0] >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s)
			if r == utf8.RuneError && size == 1 {
				out.WriteByte(s[0])
			} else {
				out.WriteRune(FoldRune(r))
			}
			s = s[size:]
		}
	}
}

// lowerInto writes ASCII text in lower case, by way of a small buffer so that
// nothing but the builder is allocated.
func lowerInto(out *strings.Builder, s string) {
	var buffer [512]byte
	for len(s) > 0 {
		n := copy(buffer[:], s)
		for i, c := range buffer[:n] {
			if c-'A' < 26 {
				buffer[i] = c + 'a' - 'A'
			}
		}
		out.Write(buffer[:n])
		s = s[n:]
	}
}

// HasUpper reports whether s holds an upper-case or title-case letter, which
// makes a search with smart case count letter case.
func HasUpper(s string) bool {
	if asciiEnd(s, 0) < len(s) {
		s = norm.NFC.String(s)
	}
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsTitle(r)
	})
}
