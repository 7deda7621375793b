package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	library "github.com/mark3labs/mcp-go/mcp"
)

// The members of a request that decide how it is answered, level by level.
const (
	inJSONRPC = iota
	inID
	inMethod
	inParams
	inResult
	inError
	envelopeEnd

	inMeta = iota - 1
	inCursor
	inName
	inArguments
	inTask
	inURI
	inProtocolVersion
	inCapabilities
	inClientInfo
	paramsEnd

	metaVersion = iota - 2
	metaClientInfo
	metaCapabilities
	metaProgress
	memberCount
)

// memberNames spells the members in the order of their constants.
var memberNames = [memberCount]string{
	"jsonrpc", "id", "method", "params", "result", "error",
	"_meta", "cursor", "name", "arguments", "task", "uri",
	"protocolVersion", "capabilities", "clientInfo",
	library.MetaKeyProtocolVersion, library.MetaKeyClientInfo,
	library.MetaKeyClientCapabilities, "progressToken",
}

// maxID is the longest request id in bytes that is echoed.
const maxID = 1024

var (
	errBatch  = errors.New("batches are not supported: send one message per request")
	errObject = errors.New("the body is not a JSON-RPC message")
	errID     = errors.New("id is neither a string nor a number, or longer than 1024 bytes")
	errMember = errors.New("a member of the message is repeated or spelled in another case")
)

// message is a body whose deciding members were found in one pass. The library
// decodes names without regard to case and lets the last of several win, so a
// message that could be read in two ways is refused here.
type message struct {
	body []byte
	at   [memberCount]span
}

func parseMessage(body []byte) (message, error) {
	m := message{body: body}
	if !utf8.Valid(body) {
		return m, errSyntax
	}
	s := scanner{data: body}
	switch s.next() {
	case '{':
	case '[':
		return m, errBatch
	default:
		if _, err := s.value(); err != nil {
			return m, err
		}
		return m, errObject
	}
	if err := m.object(&s, 0, envelopeEnd); err != nil {
		return m, err
	}
	if s.space(); s.pos != len(body) {
		return m, errSyntax
	}
	return m, nil
}

// object walks the object at s, whose known members are those from first up to
// end.
func (m *message) object(s *scanner, first, end int) error {
	if err := s.open(); err != nil {
		return err
	}
	for start := true; ; start = false {
		key, more, err := s.member(start)
		if err != nil || !more {
			return err
		}
		i, err := memberIndex(key, first, end)
		if err != nil {
			return err
		}
		if err := m.member(s, i); err != nil {
			return err
		}
	}
}

// member walks the value of member i, -1 for one without a meaning here.
func (m *message) member(s *scanner, i int) error {
	if i < 0 {
		_, err := s.value()
		return err
	}
	if !m.at[i].empty() {
		return errMember
	}
	c := s.next()
	start := s.pos
	var err error
	switch {
	case i == inID:
		err = s.identifier(c)
	case i == inParams && c == '{':
		err = m.object(s, envelopeEnd, paramsEnd)
	case i == inMeta && c == '{':
		err = m.object(s, paramsEnd, memberCount)
	default:
		_, err = s.value()
	}
	m.at[i] = span{start, s.pos}
	return err
}

// identifier steps over a request id. It may be any number, since it is only
// echoed.
func (s *scanner) identifier(c byte) error {
	start := s.pos
	var err error
	switch {
	case c == '"':
		_, err = s.str()
	case c == '-' || isDigit(c):
		_, err = s.numeral()
	default:
		if _, err := s.value(); err != nil {
			return err
		}
		return errID
	}
	if err == nil && s.pos-start > maxID {
		return errID
	}
	return err
}

// memberIndex finds key among the known members from first up to end. Keys of
// _meta are told apart by case, since they are read as a map.
func memberIndex(key []byte, first, end int) (int, error) {
	for i := first; i < end; i++ {
		name := memberNames[i]
		if string(key) == name {
			return i, nil
		}
		if first < paramsEnd && strings.EqualFold(string(key), name) {
			return -1, errMember
		}
	}
	return -1, nil
}

// raw gives the text of member i, nil when it is absent.
func (m *message) raw(i int) []byte {
	if m.at[i].empty() {
		return nil
	}
	return m.at[i].of(m.body)
}

// has says whether member i is there.
func (m *message) has(i int) bool { return !m.at[i].empty() }

// isObject says whether member i is there and is an object.
func (m *message) isObject(i int) bool { return m.has(i) && m.body[m.at[i].start] == '{' }

// text gives member i as a string; ok is false when it is anything else.
func (m *message) text(i int) (text string, ok bool) {
	raw := m.raw(i)
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}
