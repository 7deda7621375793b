package notes

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// simpleEscapes are the one-letter escapes of YAML 1.2.2, 5.7, which include
// those of JSON.
var simpleEscapes = map[byte]string{
	'0': "\x00", 'a': "\a", 'b': "\b", 't': "\t", '\t': "\t", 'n': "\n", 'v': "\v",
	'f': "\f", 'r': "\r", 'e': "\x1b", ' ': " ", '"': `"`, '/': "/", '\\': `\`,
	'N': "\u0085", '_': "\u00a0", 'L': "\u2028", 'P': "\u2029", '\n': "",
}

// hexEscapes are the escapes that digits follow, and how many.
var hexEscapes = map[byte]int{'x': 2, 'u': 4, 'U': 8}

// stringEscape reads the backslash escape that s starts with: what it stands
// for, and how many bytes it is written in. An unknown one stands for itself.
func stringEscape(s string) (value string, size int) {
	if len(s) < 2 {
		return s, len(s)
	}
	if value, ok := simpleEscapes[s[1]]; ok {
		return value, 2
	}
	r, size := hexEscape(s)
	if size == 0 {
		return s[:1], 1
	}
	if utf16.IsSurrogate(r) {
		low, more := hexEscape(s[size:])
		if pair := utf16.DecodeRune(r, low); more > 0 && pair != utf8.RuneError {
			return string(pair), size + more
		}
	}
	return string(r), size
}

// hexEscape reads \xHH, \uHHHH or \UHHHHHHHH; size 0 says that none is there.
func hexEscape(s string) (r rune, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	digits := hexEscapes[s[1]]
	if digits == 0 || len(s) < 2+digits {
		return 0, 0
	}
	number, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	if err != nil {
		return 0, 0
	}
	return rune(number), 2 + digits
}
