package mcp

import (
	"encoding/json"
	"errors"
	"strconv"
)

// maxDepth is the deepest nesting of a request body: the envelope, params and
// arguments, and the depth allowed for frontmatter below them.
const maxDepth = 64

var (
	errSyntax = errors.New("the body is not valid JSON")
	errDepth  = errors.New("the body is nested too deeply")
	errNumber = errors.New("the body holds a number out of range")
)

// scanner walks JSON text once, strictly by RFC 8259, without building values.
// It accepts nothing that encoding/json refuses.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// span is a piece of the scanned text.
type span struct{ start, end int }

func (s span) empty() bool { return s.end == 0 }

func (s span) of(data []byte) []byte { return data[s.start:s.end] }

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// next gives the next byte that is not white space, 0 at the end.
func (s *scanner) next() byte {
	s.space()
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

// open steps into an object or array.
func (s *scanner) open() error {
	s.depth++
	if s.depth > maxDepth {
		return errDepth
	}
	s.pos++
	return nil
}

// member moves to the next member's value in the object the scanner is in and
// gives its key; more is false when the object ended instead.
func (s *scanner) member(first bool) (key []byte, more bool, err error) {
	c := s.next()
	if c == '}' {
		s.pos++
		s.depth--
		return nil, false, nil
	}
	if !first {
		if c != ',' {
			return nil, false, errSyntax
		}
		s.pos++
		c = s.next()
	}
	if c != '"' {
		return nil, false, errSyntax
	}
	key, err = s.key()
	if err != nil {
		return nil, false, err
	}
	if s.next() != ':' {
		return nil, false, errSyntax
	}
	s.pos++
	return key, true, nil
}

// key reads a member's name with its escapes undone.
func (s *scanner) key() ([]byte, error) {
	start := s.pos
	escaped, err := s.str()
	if err != nil {
		return nil, err
	}
	if !escaped {
		return s.data[start+1 : s.pos-1], nil
	}
	var key string
	if err := json.Unmarshal(s.data[start:s.pos], &key); err != nil {
		return nil, errSyntax
	}
	return []byte(key), nil
}

// value steps over one value and gives where it stands.
func (s *scanner) value() (span, error) {
	c := s.next()
	start := s.pos
	var err error
	switch {
	case c == '{':
		err = s.object()
	case c == '[':
		err = s.array()
	case c == '"':
		_, err = s.str()
	case c == '-' || isDigit(c):
		err = s.number()
	default:
		err = s.word()
	}
	return span{start, s.pos}, err
}

func (s *scanner) object() error {
	if err := s.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		_, more, err := s.member(first)
		if err != nil || !more {
			return err
		}
		if _, err := s.value(); err != nil {
			return err
		}
	}
}

func (s *scanner) array() error {
	if err := s.open(); err != nil {
		return err
	}
	if s.next() == ']' {
		s.pos++
		s.depth--
		return nil
	}
	for {
		if _, err := s.value(); err != nil {
			return err
		}
		switch s.next() {
		case ',':
			s.pos++
		case ']':
			s.pos++
			s.depth--
			return nil
		default:
			return errSyntax
		}
	}
}

// str steps over a string and says whether it holds escapes.
func (s *scanner) str() (escaped bool, err error) {
	for i := s.pos + 1; i < len(s.data); {
		switch c := s.data[i]; {
		case c == '"':
			s.pos = i + 1
			return escaped, nil
		case c < ' ':
			return false, errSyntax
		case c == '\\':
			n := escapeLength(s.data[i:])
			if n == 0 {
				return false, errSyntax
			}
			escaped = true
			i += n
		default:
			i++
		}
	}
	return false, errSyntax
}

// escapeLength gives the length of the escape at the start of text, 0 if it is
// none.
func escapeLength(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) < 6 {
			return 0
		}
		for _, c := range text[2:6] {
			if !isHex(c) {
				return 0
			}
		}
		return 6
	}
	return 0
}

// longNumber is a length from which a number may exceed a float64 even without
// an exponent.
const longNumber = 300

// number steps over a number and refuses one that no float64 can hold, since
// the library's decoder would refuse it later and read the request otherwise.
func (s *scanner) number() error {
	start := s.pos
	exponent, err := s.numeral()
	if err != nil {
		return err
	}
	if !exponent && s.pos-start < longNumber {
		return nil
	}
	if _, err := strconv.ParseFloat(string(s.data[start:s.pos]), 64); err != nil {
		return errNumber
	}
	return nil
}

// numeral steps over a number of any size and says whether it has an exponent.
func (s *scanner) numeral() (exponent bool, err error) {
	if s.peek() == '-' {
		s.pos++
	}
	if s.peek() == '0' {
		s.pos++
	} else if !s.digits() {
		return false, errSyntax
	}
	if s.peek() == '.' {
		s.pos++
		if !s.digits() {
			return false, errSyntax
		}
	}
	if c := s.peek(); c != 'e' && c != 'E' {
		return false, nil
	}
	s.pos++
	if c := s.peek(); c == '+' || c == '-' {
		s.pos++
	}
	if !s.digits() {
		return false, errSyntax
	}
	return true, nil
}

func (s *scanner) peek() byte {
	if s.pos < len(s.data) {
		return s.data[s.pos]
	}
	return 0
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

// word steps over true, false or null.
func (s *scanner) word() error {
	for _, w := range [...]string{"true", "false", "null"} {
		if len(s.data)-s.pos >= len(w) && string(s.data[s.pos:s.pos+len(w)]) == w {
			s.pos += len(w)
			return nil
		}
	}
	return errSyntax
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
