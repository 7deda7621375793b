package notes

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

const commentMark = "%%"

var kindComment = ast.NewNodeKind("ObsidianComment")

// commentBlock is an Obsidian comment over several lines. It hides headings;
// links inside it count.
type commentBlock struct{ ast.BaseBlock }

// Kind names the node for goldmark.
func (*commentBlock) Kind() ast.NodeKind { return kindComment }

// IsRaw keeps goldmark from reading the lines as Markdown.
func (*commentBlock) IsRaw() bool { return true }

// Dump prints the node for goldmark's own debugging.
func (c *commentBlock) Dump(source []byte, level int) { ast.DumpHelper(c, source, level, nil, nil) }

// commentParser opens a comment where a line starts with %% and a later line
// holds the next %%. One that nothing closes is text: a stray mark must not
// hide the rest of a note.
type commentParser struct{}

// Trigger gives the characters a comment can start with.
func (commentParser) Trigger() []byte { return []byte{commentMark[0]} }

// Open starts a comment at the reader's line, if one starts there.
func (commentParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := pc.BlockOffset()
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(commentMark)) {
		return nil, parser.NoChildren
	}
	rest := line[at+len(commentMark):]
	after := reader.Source()[segment.Stop:]
	if bytes.Contains(rest, []byte(commentMark)) || !bytes.Contains(after, []byte(commentMark)) {
		return nil, parser.NoChildren
	}
	node := &commentBlock{}
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return node, parser.NoChildren
}

// Continue takes the next line in and ends the comment where it is closed.
func (commentParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	if bytes.Contains(line, []byte(commentMark)) {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

// Close has nothing left to do.
func (commentParser) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph says that a comment needs no blank line before it.
func (commentParser) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine says that an indented line is code first.
func (commentParser) CanAcceptIndentedLine() bool { return false }
