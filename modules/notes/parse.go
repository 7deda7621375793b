package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Doc is one text, read once. It does not change and may be used by several
// goroutines at a time.
type Doc struct {
	// Text is the text as it stands in the file.
	Text string
	// BOM reports whether the text starts with a byte order mark.
	BOM bool
	// Front is the frontmatter block, nil when there is none. When it cannot
	// be read it has its span and no field.
	Front *Front
	// FrontError says why the frontmatter cannot be read, nil when it can.
	FrontError *FrontError
	// Body is the offset at which the text behind the frontmatter starts,
	// and behind the byte order mark.
	Body int
	// Headings are the headings in the order of the text.
	Headings []Heading

	root ast.Node
	defs definitions
}

// Parse reads a text. It never fails: a frontmatter that cannot be read is
// reported in FrontError and the rest is read as ever.
func Parse(text string) *Doc {
	d := &Doc{Text: text}
	if strings.HasPrefix(text, bom) {
		d.BOM, d.Body = true, len(bom)
	}
	if front := splitFront(text, d.Body); front != nil {
		d.Front, d.Body = front, front.End
		d.FrontError = readFront(text, front)
	}
	d.readBlocks()
	return d
}

// Lines cuts the whole text into lines.
func (d *Doc) Lines() Lines { return LinesOf(d.Text) }

// Title gives the note's title: the frontmatter's `title`, else the file name
// of path without its ending. A heading never is the title.
func (d *Doc) Title(path string) string {
	if title := d.Field("title"); strings.TrimSpace(title) != "" {
		return title
	}
	return fileTitle(path)
}

// Field gives a frontmatter entry as lists of notes show it, and the empty
// string when there is none.
func (d *Doc) Field(name string) string {
	value, _ := d.Front.Get(name)
	return value.String()
}
