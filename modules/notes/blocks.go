package notes

import (
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// definitions are the link reference definitions of one text: where each
// stands, and which labels are defined.
type definitions struct {
	text   string // the whole text
	base   int    // where the text that goldmark reads starts in it
	links  []Link
	labels map[string]string
}

var definitionsKey = parser.NewContextKey()

// blockParser reads block structure alone: what stands inside a paragraph is
// scanned here, with offsets, where it is asked for.
var blockParser = sync.OnceValue(func() parser.Parser {
	blocks := append(parser.DefaultBlockParsers(),
		util.Prioritized(commentParser{}, 50),
		util.Prioritized(footnoteParser{extension.NewFootnoteBlockParser()}, 999))
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithParagraphTransformers(util.Prioritized(definitionTransformer{}, 100)),
	)
})

// footnoteParser reads the bodies of footnotes as blocks and leaves them where
// they stand; goldmark's own would move them to the end.
type footnoteParser struct{ parser.BlockParser }

// Close keeps the footnote in its place.
func (footnoteParser) Close(ast.Node, text.Reader, parser.Context) {}

// readBlocks reads the body's block structure and its headings.
func (d *Doc) readBlocks() {
	body := d.Text[d.Body:]
	d.defs = definitions{text: d.Text, base: d.Body}
	context := parser.NewContext()
	context.Set(definitionsKey, &d.defs)
	context.Set(lastCommentKey, lastComment(body))
	d.root = blockParser().Parse(text.NewReader([]byte(body)), parser.WithContext(context))
	d.readHeadings()
}

// eachLeaf calls f with every block whose text may hold links, in order.
func (d *Doc) eachLeaf(f func(ast.Node)) {
	for n := d.root; n != nil; n = nextNode(n) {
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *ast.Heading, *ast.HTMLBlock, *commentBlock:
			f(n)
		}
	}
}

// nextNode walks the tree in order without recursion, since its depth is the
// author's choice.
func nextNode(n ast.Node) ast.Node {
	if child := n.FirstChild(); child != nil {
		return child
	}
	for ; n != nil; n = n.Parent() {
		if next := n.NextSibling(); next != nil {
			return next
		}
	}
	return nil
}
