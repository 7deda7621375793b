package index

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"vault/modules/notes"
)

const (
	// deriveFormat numbers the way texts are read into doc, fold and link
	// rows. A change of modules/notes that would read some text differently
	// raises it; rows of the old format are then made anew from the stored
	// texts, without git.
	deriveFormat = 1
	// textLimit is the largest file, in bytes, whose text is kept.
	textLimit = 16 << 20
	// linkLimit bounds the links kept of one note.
	linkLimit = 20_000
	// headingLimit bounds the headings kept of one note.
	headingLimit = 20_000
)

// Kind is what a stored blob turned out to be.
type Kind int16

// The kinds of a blob. The numbers are stored.
const (
	// KindText is UTF-8 text.
	KindText Kind = 0
	// KindNUL holds a NUL byte, so that it is not text.
	KindNUL Kind = 1
	// KindNotUTF8 is not UTF-8.
	KindNotUTF8 Kind = 2
	// KindTooLarge is larger than the index keeps.
	KindTooLarge Kind = 3
	// KindNone was never looked at: its name says that it is no text.
	KindNone Kind = -1
)

// kindOf tells what the bytes of a file are.
func kindOf(data []byte) Kind {
	switch {
	case len(data) > textLimit:
		return KindTooLarge
	case bytes.IndexByte(data, 0) >= 0:
		return KindNUL
	case !utf8.Valid(data):
		return KindNotUTF8
	}
	return KindText
}

// reading is what one note's text was read into.
type reading struct {
	fold      string
	lines     int
	fields    []byte // JSON; nil without frontmatter
	errorLine *int
	errorText *string
	headings  []byte // JSON; nil without headings
	lfs       bool
	links     []notes.Link
}

// read reads a note's text.
func read(text string) reading {
	doc := notes.Parse(text)
	r := reading{
		fold:     notes.Fold(text),
		lines:    doc.Lines().Count(),
		headings: encodeHeadings(doc.Headings),
		lfs:      isLFS(text),
		links:    namedLinks(doc),
	}
	if doc.Front != nil {
		r.fields = encodeFields(doc.Front.Fields)
	}
	if e := doc.FrontError; e != nil {
		message := clean(e.Msg)
		r.errorLine, r.errorText = &e.Line, &message
	}
	return r
}

// lfsMark starts every pointer of Git LFS (its specification, version 1).
const lfsMark = "version https://git-lfs.github.com/spec/v1\n"

// isLFS reports whether a text is a pointer of Git LFS, which is never longer
// than 1,023 bytes.
func isLFS(text string) bool { return len(text) < 1024 && strings.HasPrefix(text, lfsMark) }

// namedLinks gives a text's links that name a file, in order.
func namedLinks(doc *notes.Doc) []notes.Link {
	var named []notes.Link
	for _, link := range doc.Links() {
		if len(named) == linkLimit {
			break
		}
		if link.Key() != "" && !link.External() {
			named = append(named, link)
		}
	}
	return named
}

// Field is one frontmatter entry of a stored note.
type Field struct {
	// Key is the entry's name.
	Key string
	// Shown is the value as lists of notes show it.
	Shown string
	// JSON is the value as JSON, dates as the text that stands in the file.
	JSON json.RawMessage
}

// encodeFields writes frontmatter as [[key, shown, value]…], in file order.
// Text is cleaned, since it goes into Postgres.
func encodeFields(fields []notes.Field) []byte {
	list := make([][3]any, len(fields))
	for i, f := range fields {
		list[i] = [3]any{clean(f.Key), clean(f.Value.String()), f.Value.JSON()}
	}
	out, err := json.Marshal(list)
	if err != nil {
		return nil // a value that is no JSON; the note is listed without fields
	}
	return escapeNUL(out)
}

// escapeNUL replaces the escape \u0000 inside JSON, which Postgres cannot
// turn into text.
func escapeNUL(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u0000`)) {
		return data
	}
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(data[i:], []byte(`\u0000`)) {
			copy(data[i:], `\ufffd`)
		}
		i++ // the escaped character, which may be a backslash
	}
	return data
}

func decodeFields(data []byte) []Field {
	var list [][3]json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &list) != nil {
		return nil
	}
	fields := make([]Field, len(list))
	for i, item := range list {
		fields[i].JSON = item[2]
		_ = json.Unmarshal(item[0], &fields[i].Key)
		_ = json.Unmarshal(item[1], &fields[i].Shown)
	}
	return fields
}

// shownField gives a field as lists show it, "" when it is not there.
func shownField(fields []Field, key string) string {
	for _, f := range fields {
		if f.Key == key {
			return f.Shown
		}
	}
	return ""
}

// Heading is one heading of a stored note.
type Heading struct {
	// Line counts from 1; Level is 1 to 6.
	Line, Level int
	// Text has its inline markup taken off.
	Text string
}

// encodeHeadings writes headings as [[line, level, text]…].
func encodeHeadings(headings []notes.Heading) []byte {
	if len(headings) == 0 {
		return nil
	}
	headings = headings[:min(len(headings), headingLimit)]
	list := make([][3]any, len(headings))
	for i, h := range headings {
		list[i] = [3]any{h.Line, h.Level, clean(h.Text)}
	}
	out, err := json.Marshal(list)
	if err != nil {
		return nil // numbers and clean text always marshal
	}
	return out
}

func decodeHeadings(data []byte) []Heading {
	var list [][3]json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &list) != nil {
		return nil
	}
	headings := make([]Heading, len(list))
	for i, item := range list {
		_ = json.Unmarshal(item[0], &headings[i].Line)
		_ = json.Unmarshal(item[1], &headings[i].Level)
		_ = json.Unmarshal(item[2], &headings[i].Text)
	}
	return headings
}
