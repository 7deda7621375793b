package notes

import (
	"strings"

	"github.com/adrg/frontmatter"
)

// Limits of one frontmatter. A block beyond them is reported as unreadable;
// the rest of the note is read all the same.
const (
	// MaxFrontBytes bounds the text between the fences, in bytes.
	MaxFrontBytes = 64 << 10
	// MaxFrontNodes bounds the values and keys, aliases counted as often as
	// they are used.
	MaxFrontNodes = 1000
	// MaxFrontDepth bounds how deep lists and maps nest, the outer map being
	// level one.
	MaxFrontDepth = 32
)

const fence = "---"

// Front is the frontmatter of a note: the block between a first line `---` and
// the next one.
type Front struct {
	// Start and End are the span of the block, both fences and the line end
	// of the last included.
	Start, End int
	// TextStart and TextEnd are the span of the YAML between the fences.
	TextStart, TextEnd int
	// Fields are the entries in the order of the file; none when the block
	// is empty or cannot be read.
	Fields []Field

	quotes []quoted
}

// FrontError says why a frontmatter cannot be read. The note itself can.
type FrontError struct {
	// Line is the number of the line in the file, from 1.
	Line int
	// Msg says what is wrong, without a final full stop; what it repeats
	// from the note is quoted.
	Msg string
}

// Error gives the sentence.
func (e *FrontError) Error() string { return e.Msg }

// Get gives the entry with this key. A nil Front has none.
func (f *Front) Get(key string) (Value, bool) {
	if f == nil {
		return Value{}, false
	}
	return fieldOf(f.Fields, key)
}

// splitFront finds the frontmatter block of a text whose content starts at
// offset start, after a byte order mark if there is one; nil without a block.
func splitFront(text string, start int) *Front {
	open := fenceLine(text, start)
	if open == 0 {
		return nil
	}
	if front, ok := splitByLibrary(text, start, open); ok {
		return front
	}
	for at := start + open; at < len(text); {
		if n := fenceLine(text, at); n > 0 {
			return &Front{Start: start, End: at + n, TextStart: start + open, TextEnd: at}
		}
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	return nil
}

// splitByLibrary lets the frontmatter library cut the text and takes its word
// only where it holds: the parts must be the input, byte for byte, and both
// fences must be fences here too (the library takes an indented one as well).
func splitByLibrary(text string, start, open int) (*Front, bool) {
	window := text[start:min(len(text), start+open+MaxFrontBytes+len(fence)+2)]
	var inner string
	format := frontmatter.NewFormat(fence, fence, func(data []byte, _ any) error {
		inner = string(data)
		return nil
	})
	rest, err := frontmatter.MustParse(strings.NewReader(window), nil, format)
	if err != nil {
		return nil, false
	}
	textEnd := start + open + len(inner)
	end := start + len(window) - len(rest)
	if textEnd > end || text[start+open:textEnd] != inner || text[end:start+len(window)] != string(rest) {
		return nil, false
	}
	if fenceLine(text, textEnd) != end-textEnd {
		return nil, false
	}
	return &Front{Start: start, End: end, TextStart: start + open, TextEnd: textEnd}, true
}

// fenceLine gives the length, line end included, of the fence line that starts
// at offset at, and 0 when that line is something else. Blanks may follow the
// dashes, nothing may stand before them.
func fenceLine(text string, at int) int {
	line := text[at:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end+1]
	}
	if !strings.HasPrefix(line, fence) || strings.Trim(line[len(fence):], " \t\r\n") != "" {
		return 0
	}
	return len(line)
}
