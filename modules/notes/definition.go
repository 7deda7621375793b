package notes

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// definitionTransformer takes the link reference definitions off the start of
// a paragraph and keeps where they stand. goldmark's own keeps no destination
// spans.
type definitionTransformer struct{}

// Transform reads definitions as long as the paragraph starts with one.
func (definitionTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines := node.Lines()
	defs, ok := pc.Get(definitionsKey).(*definitions)
	if !ok || lines.Len() == 0 || !startsDefinition(reader.Source(), lines.At(0)) {
		return
	}
	view := newView(defs.text, lines, defs.base)
	taken := 0 // lines
	for at := 0; ; {
		link, next, ok := definitionAt(view.text, at)
		if !ok {
			break
		}
		defs.add(view.toSource(link))
		taken += strings.Count(view.text[at:next], "\n")
		at = next
		if at == len(view.text) {
			taken = lines.Len()
		}
	}
	if taken > 0 {
		// What holds the paragraph must not look empty, or a list item would
		// end at the next blank line.
		place := ast.NewLinkReferenceDefinition(nil, nil, nil)
		node.Parent().InsertBefore(node.Parent(), node, place)
		keepFrom(node, lines, taken)
	}
}

// keepFrom drops the first lines of a paragraph, and the paragraph with its
// last line.
func keepFrom(node *ast.Paragraph, lines *text.Segments, taken int) {
	if taken >= lines.Len() {
		lines.Clear()
		node.Parent().RemoveChild(node.Parent(), node)
		return
	}
	lines.SetSliced(taken, lines.Len())
	node.SetLines(lines)
}

func startsDefinition(source []byte, first text.Segment) bool {
	line := bytes.TrimLeft(source[first.Start:first.Stop], " \t")
	return len(line) > 1 && line[0] == '[' && line[1] != '^'
}

func (d *definitions) add(link Link) {
	d.links = append(d.links, link)
	if d.labels == nil {
		d.labels = map[string]string{}
	}
	label := normalLabel(link.Label)
	if _, ok := d.labels[label]; !ok {
		d.labels[label] = link.Dest
	}
}

// normalLabel brings a reference label to the form in which labels are
// compared: folded, white space collapsed (CommonMark 0.31, 4.7).
func normalLabel(label string) string {
	return strings.Join(strings.Fields(Fold(label)), " ")
}
