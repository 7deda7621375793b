package vaultdir

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"vault/platform/fault"
)

const (
	// maxSettings is the largest settings.jsonc, in bytes.
	maxSettings = 64 << 10
	// maxDepth is how deep objects and lists may nest in it. The settings
	// themselves need five levels.
	maxDepth = 16
)

// document is JSON with comments, parsed, with the way back from a value to
// its place in the text.
type document struct {
	path string
	text []byte
	root hujson.Value
}

// parseDocument parses a file's text. Where it cannot, the findings say why.
func parseDocument(path, text string) (*document, []Finding) {
	d := &document{path: path, text: []byte(strings.TrimPrefix(text, "\uFEFF"))}
	if problem := d.bounded(); problem != nil {
		return nil, []Finding{*problem}
	}
	root, err := hujson.Parse(withFinalNewline(d.text))
	if err != nil {
		return nil, []Finding{d.syntaxError(err)}
	}
	d.root = root
	return d, nil
}

// withFinalNewline copies text and ends it with a newline: a line comment on
// the last line needs one to be complete.
func withFinalNewline(text []byte) []byte {
	return append(bytes.Clone(text), '\n')
}

// bounded refuses what is not worth parsing or not safe to parse.
func (d *document) bounded() *Finding {
	switch at := d.invalidByte(); {
	case len(d.text) > maxSettings:
		return d.whole(RuleSyntax, "the file is larger than %d KiB", maxSettings>>10)
	case at >= 0:
		f := d.at(at, RuleSyntax, "the file is not text: it holds NUL or bytes that are not UTF-8")
		return &f
	}
	if at := tooDeep(d.text); at >= 0 {
		f := d.at(at, RuleSyntax, "objects and lists nest deeper than %d levels", maxDepth)
		return &f
	}
	return nil
}

// invalidByte gives the offset of the first byte that is NUL or not UTF-8, -1
// if there is none. It looks no further than the size limit.
func (d *document) invalidByte() int {
	for i := 0; i < min(len(d.text), maxSettings); {
		r, size := utf8.DecodeRune(d.text[i:])
		if r == 0 || (r == utf8.RuneError && size == 1) {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep gives the offset of the bracket that goes over maxDepth, -1 if none
// does. The parser is recursive, so this is asked before it runs.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '/':
			i = skipComment(text, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// skipString gives the offset of the quote that ends the string starting at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// skipComment gives the offset of the last byte of the comment at i, i itself
// when none starts there.
func skipComment(text []byte, i int) int {
	rest := text[i:]
	end, length := -1, 0
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end, length = bytes.IndexByte(rest, '\n'), 1
	case bytes.HasPrefix(rest, []byte("/*")):
		end, length = bytes.Index(rest[2:], []byte("*/")), 4
	default:
		return i
	}
	if end < 0 {
		return len(text)
	}
	return i + end + length - 1
}

// syntaxError turns the parser's error, whose text starts with a line and a
// column in bytes, into a finding.
func (d *document) syntaxError(err error) Finding {
	const says = "the file is not JSON with comments: %s"
	message := strings.TrimPrefix(err.Error(), "hujson: ")
	place, reason, ok := strings.Cut(message, ": ")
	var line, column int
	if _, scanErr := fmt.Sscanf(place, "line %d, column %d", &line, &column); !ok || scanErr != nil {
		return *d.whole(RuleSyntax, says, unquoted(message))
	}
	return d.at(d.lineOffset(line)+column-1, RuleSyntax, says, unquoted(reason))
}

// lineOffset gives where a line starts, the text's end for one beyond it.
func (d *document) lineOffset(line int) int {
	offset := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(d.text[offset:], '\n')
		if i < 0 {
			return len(d.text)
		}
		offset += i + 1
	}
	return offset
}

// unquoted makes a message that may carry text from the file safe to show.
func unquoted(message string) string {
	q := fault.Quote(message)
	return q[1 : len(q)-1]
}

// at makes an error finding at an offset of the text.
func (d *document) at(offset int, rule, format string, args ...any) Finding {
	before := d.text[:min(offset, len(d.text))]
	lineStart := bytes.LastIndexByte(before, '\n') + 1
	return Finding{
		Path:     d.path,
		Line:     bytes.Count(before, []byte("\n")) + 1,
		Column:   utf8.RuneCount(before[lineStart:]) + 1,
		Severity: Error,
		Rule:     rule,
		Message:  fmt.Sprintf(format, args...),
	}
}

// whole makes an error finding about the file as such.
func (d *document) whole(rule, format string, args ...any) *Finding {
	return &Finding{Path: d.path, Severity: Error, Rule: rule, Message: fmt.Sprintf(format, args...)}
}

// standard gives the document as plain JSON.
func (d *document) standard() []byte {
	v := d.root.Clone()
	v.Standardize()
	return v.Pack()
}

// duplicates reports every key that stands twice in one object.
func (d *document) duplicates() []Finding {
	var list []Finding
	for v := range d.root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range object.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if seen[name] {
				list = append(list, d.at(m.Name.StartOffset, RuleDuplicate, "the key %s stands here a second time", fault.Quote(name)))
			}
			seen[name] = true
		}
	}
	return list
}

// offset gives where the value at a pointer of keys and list indexes starts;
// the nearest value around it when there is none.
func (d *document) offset(pointer []string) int {
	v := d.root
	for _, key := range pointer {
		next, ok := child(v, key)
		if !ok {
			break
		}
		v = next
	}
	return v.StartOffset
}

// keyOffset gives where a key of the object at pointer is written.
func (d *document) keyOffset(pointer []string, key string) int {
	v := d.root
	for _, k := range pointer {
		v, _ = child(v, k)
	}
	if object, ok := v.Value.(*hujson.Object); ok {
		for _, m := range object.Members {
			if m.Name.Value.(hujson.Literal).String() == key {
				return m.Name.StartOffset
			}
		}
	}
	return d.offset(pointer)
}

func child(v hujson.Value, key string) (hujson.Value, bool) {
	switch value := v.Value.(type) {
	case *hujson.Object:
		for _, m := range value.Members {
			if m.Name.Value.(hujson.Literal).String() == key {
				return m.Value, true
			}
		}
	case *hujson.Array:
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(value.Elements) {
			return value.Elements[i], true
		}
	}
	return hujson.Value{}, false
}
