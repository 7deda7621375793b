package notes

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// inlineStarts are the characters by which goldmark asks for an inline parser
// at the start of a block: punctuation, and a blank for any other.
var inlineStarts = []byte(" !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")

var kindSwallowed = ast.NewNodeKind("Swallowed")

// swallowed stands for the text of a block.
type swallowed struct{ ast.BaseInline }

// Kind names the node for goldmark.
func (*swallowed) Kind() ast.NodeKind { return kindSwallowed }

// Dump prints the node for goldmark's own debugging.
func (s *swallowed) Dump(source []byte, level int) { ast.DumpHelper(s, source, level, nil, nil) }

// swallower takes in the whole text of a block at once. goldmark reads inline
// text whether it is wanted or not; this spares it the reading, which is the
// larger part of its work.
type swallower struct{}

// Trigger gives the characters at which goldmark asks.
func (swallower) Trigger() []byte { return inlineStarts }

// Parse goes to the end of the block.
func (swallower) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	for line, _ := block.PeekLine(); line != nil; line, _ = block.PeekLine() {
		block.AdvanceLine()
	}
	return &swallowed{}
}
