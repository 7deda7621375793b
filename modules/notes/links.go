package notes

import (
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Links gives every link of the text, external ones included, in the order in
// which they start. Code and math hold none; Obsidian comments do, and HTML
// comments do with their own Place. A use of a link reference definition is no
// link of its own: the definition holds the path.
func (d *Doc) Links() []Link {
	c := &collector{text: d.Text, labels: d.defs.labels}
	c.links = append(c.links, d.defs.links...)
	d.frontLinks(c)
	d.eachLeaf(func(n ast.Node) {
		if lines := n.Lines(); lines.Len() > 0 {
			c.leaf(n, newView(d.Text, lines, d.Body), d.Body)
		}
	})
	return c.finish()
}

// collector gathers the links of one text.
type collector struct {
	text   string
	labels map[string]string
	place  Place
	quote  byte // around what is scanned
	links  []Link
}

// leaf scans one block that holds text of its own.
func (c *collector) leaf(n ast.Node, v view, base int) {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		c.paragraph(v)
	case *commentBlock:
		c.comment(v)
	case *ast.HTMLBlock:
		if n.HasClosure() {
			lines := text.NewSegments()
			lines.AppendAll(n.Lines().Sliced(0, n.Lines().Len()))
			lines.Append(n.ClosureLine)
			v = newView(c.text, lines, base)
		}
		c.html(v)
	}
}

// comment scans an Obsidian comment, paragraph by paragraph, so that a lone
// backtick reaches no further than in text.
func (c *collector) comment(v view) {
	start, at := 0, 0
	for line := range strings.SplitAfterSeq(v.text, "\n") {
		at += len(line)
		if strings.TrimSpace(line) == "" {
			c.inline(v, start, at)
			start = at
		}
	}
	c.inline(v, start, at)
}

// add takes in a link whose spans are those of a view.
func (c *collector) add(v view, link Link) {
	link.Place = c.place
	if c.quote != 0 {
		link.Quote = c.quote
	}
	c.links = append(c.links, v.toSource(link))
}

// finish sorts the links and gives them their lines.
func (c *collector) finish() []Link {
	slices.SortStableFunc(c.links, func(a, b Link) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	line, counted := 1, 0
	for i := range c.links {
		link := &c.links[i]
		line += strings.Count(c.text[counted:link.Start], "\n")
		counted = link.Start
		link.Line = line
	}
	return c.links
}

// positions are ascending offsets, searched forward.
type positions []int

// from gives the first position that is at least at, -1 without one.
func (p positions) from(at int) int {
	i := sort.SearchInts(p, at)
	if i == len(p) {
		return -1
	}
	return p[i]
}
