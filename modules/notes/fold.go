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
	foldTableEnd    = 0x3100
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
	if end := asciiEnd(s, i); !inert(s[end:]) {
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
		return foldTables().head[max(r, 0)]
	}
	if r < foldCaselessEnd {
		return r
	}
	return orbitHead(r)
}

// tables answer for the runes below foldTableEnd.
type tables struct {
	head  [foldTableEnd]rune // of the rune's orbit
	inert [foldTableEnd]bool // NFC leaves it alone, whatever stands before it
}

var foldTables = sync.OnceValue(func() *tables {
	t := &tables{}
	for i := range t.head {
		s := string(rune(i))
		t.head[i] = orbitHead(rune(i))
		t.inert[i] = norm.NFC.IsNormalString(s) && norm.NFC.PropertiesString(s).BoundaryBefore()
	}
	return t
})

// inert reports that a text is in NFC, at a glance: all its runes are of those
// that NFC leaves alone. It may say no of other texts in NFC.
func inert(s string) bool {
	t := foldTables()
	for _, r := range s {
		switch {
		case r < foldTableEnd:
			if !t.inert[r] {
				return false
			}
		case 0x3400 <= r && r < foldCaselessEnd: // ideographs
		case 0xAC00 <= r && r <= 0xD7A3: // Hangul syllables
		default:
			return false
		}
	}
	return true
}

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

// foldInto writes the fold of s, which is in NFC. It goes by way of a small
// buffer, so that nothing but the builder is allocated.
func foldInto(out *strings.Builder, s string) {
	var space [512]byte
	buffer := space[:0]
	heads := &foldTables().head
	for s != "" {
		if len(buffer) > len(space)-utf8.UTFMax {
			out.Write(buffer)
			buffer = buffer[:0]
		}
		if s[0] < utf8.RuneSelf {
			n := asciiRun(s, len(space)-len(buffer))
			buffer = appendLower(buffer, s[:n])
			s = s[n:]
			continue
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			buffer = append(buffer, s[0])
		case r < foldTableEnd:
			buffer = utf8.AppendRune(buffer, heads[r])
		case r < foldCaselessEnd:
			buffer = append(buffer, s[:size]...)
		default:
			buffer = utf8.AppendRune(buffer, orbitHead(r))
		}
		s = s[size:]
	}
	out.Write(buffer)
}

// asciiRun gives the length of the ASCII text that s starts with, up to limit.
func asciiRun(s string, limit int) int {
	s = s[:min(len(s), limit)]
	return asciiEnd(s, 0)
}

func appendLower(buffer []byte, s string) []byte {
	from := len(buffer)
	buffer = append(buffer, s...)
	lower := buffer[from:]
	for i, c := range lower {
		if c-'A' < 26 {
			lower[i] = c + 'a' - 'A'
		}
	}
	return buffer
}

// HasUpper reports whether s holds an upper-case or title-case letter, which
// makes a search with smart case count letter case.
func HasUpper(s string) bool {
	if !inert(s[asciiEnd(s, 0):]) {
		s = norm.NFC.String(s)
	}
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsUpper(r) || unicode.IsTitle(r)
	})
}
