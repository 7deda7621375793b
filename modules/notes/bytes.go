package notes

import (
	"strings"
	"unicode/utf8"
)

// bom is the byte order mark in UTF-8.
const bom = "\uFEFF"

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

// isPunct reports whether c is ASCII punctuation, the characters that a
// backslash escapes (CommonMark 0.31, 2.4).
func isPunct(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

func unhex(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// hexPair reads the %hh that starts at i.
func hexPair(s string, i int) (byte, bool) {
	if i+2 >= len(s) || s[i] != '%' {
		return 0, false
	}
	high, ok := unhex(s[i+1])
	low, ok2 := unhex(s[i+2])
	return high<<4 | low, ok && ok2
}

// validOr gives s if it can be part of a path, else the other text.
func validOr(s, other string) string {
	if utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	return other
}
