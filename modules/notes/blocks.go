package notes

import (
	"bytes"
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
	quote := shallow{parser.NewBlockquoteParser(), maxNesting}
	list := shallow{parser.NewListParser(), maxNesting}
	item := shallow{parser.NewListItemParser(), maxNesting + 1}
	footnote := shallow{footnoteParser{extension.NewFootnoteBlockParser()}, maxNesting}
	blocks := []util.PrioritizedValue{ // in goldmark's own order
		util.Prioritized(commentParser{}, 50),
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(list, 300),
		util.Prioritized(item, 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(quote, 800),
		util.Prioritized(parser.NewHTMLBlockParser(), 900),
		util.Prioritized(footnote, 999),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	}
	return parser.NewParser(
		parser.WithBlockParsers(blocks...),
		parser.WithInlineParsers(util.Prioritized(swallower{}, 0)),
		parser.WithParagraphTransformers(util.Prioritized(definitionTransformer{}, 100)),
	)
})

// footnoteParser reads the bodies of footnotes as blocks and leaves them where
// they stand; goldmark's own would move them to the end.
type footnoteParser struct{ parser.BlockParser }

// Close keeps the footnote in its place.
func (footnoteParser) Close(ast.Node, text.Reader, parser.Context) {}

// maxNesting is how many blocks may be open inside one another. goldmark's work
// on a line grows with the square of that; nobody nests as deep, and what does
// is read as text.
const maxNesting = 64

// shallow is a parser of blocks that hold others and opens none too deep.
type shallow struct {
	parser.BlockParser
	limit int
}

// Open starts the block unless too many are open.
func (s shallow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= s.limit {
		return nil, parser.NoChildren
	}
	return s.BlockParser.Open(parent, reader, pc)
}

// readBlocks reads the body's block structure and its headings.
func (d *Doc) readBlocks() {
	body := d.Text[d.Body:]
	d.defs = definitions{text: d.Text, base: d.Body}
	context := parser.NewContext()
	context.Set(definitionsKey, &d.defs)
	source := []byte(body)
	joinBlankLines(source)
	d.root = blockParser().Parse(text.NewReader(source), parser.WithContext(context))
	d.readHeadings()
}

// joinBlankLines makes one line of all but the first of the blank lines in a
// row, in place. It means the same, no offset moves, and goldmark, which keeps
// a record per line and open block, cannot be made to fill the memory.
func joinBlankLines(source []byte) {
	run := 0 // blank lines up to the line before
	for at := 0; at < len(source); {
		end := at
		for end < len(source) && source[end] != '\n' && isSpace(source[end]) {
			end++
		}
		if end < len(source) && source[end] != '\n' {
			run = 0
			next := bytes.IndexByte(source[end:], '\n')
			if next < 0 {
				return
			}
			end += next
		} else if run++; run > 2 {
			source[at-1] = ' '
		}
		at = end + 1
	}
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
