package notes

import (
	"bytes"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxInline bounds the heading text whose markup is taken off, in bytes; a
// longer one is shown as written.
const maxInline = 4096

// inlineParser reads the inline markup of one paragraph.
var inlineParser = sync.OnceValue(func() parser.Parser {
	inlines := append(parser.DefaultInlineParsers(),
		util.Prioritized(wikilinkParser{}, 150),
		util.Prioritized(extension.NewStrikethroughParser(), 500))
	return parser.NewParser(
		parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1000)),
		parser.WithInlineParsers(inlines...),
	)
})

// inlineText gives what a reader sees of an inline text: emphasis, code marks,
// tags and escapes gone, links as their labels, images as their descriptions.
func (d *Doc) inlineText(source string) string {
	if !hasMarkup(source) || len(source) > maxInline {
		return source
	}
	context := definedContext{parser.NewContext(), d.defs.labels}
	raw := []byte(source)
	root := inlineParser().Parse(text.NewReader(raw), parser.WithContext(context))
	var out strings.Builder
	for n := nextNode(root); n != nil; n = nextNode(n) {
		writeInline(&out, n, raw)
	}
	return strings.TrimSpace(out.String())
}

// markupPairs are what inline markup needs at the least: marks that come in
// twos, and marks that need another one.
var markupPairs = [...][2]string{{"*", "*"}, {"_", "_"}, {"`", "`"}, {"~", "~"}, {"[", "]"}, {"<", ">"}, {"&", ";"}}

// hasMarkup reports whether inline markup is possible at all; most headings
// have none.
func hasMarkup(source string) bool {
	if strings.ContainsAny(source, "\\\n") {
		return true
	}
	for _, pair := range markupPairs {
		if at := strings.Index(source, pair[0]); at >= 0 && strings.Contains(source[at+1:], pair[1]) {
			return true
		}
	}
	return false
}

// definedContext tells goldmark which reference labels the note defines.
type definedContext struct {
	parser.Context
	labels map[string]string
}

// Reference looks a label up.
func (c definedContext) Reference(label string) (parser.Reference, bool) {
	dest, ok := c.labels[normalLabel(label)]
	if !ok {
		return nil, false
	}
	return parser.NewReference([]byte(label), []byte(dest), nil), true
}

func writeInline(out *strings.Builder, n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Segment.Value(source)
		if n.IsRaw() || n.Parent().Kind() == ast.KindCodeSpan {
			out.Write(bytes.ReplaceAll(value, []byte("\n"), []byte(" ")))
		} else {
			out.WriteString(unescape(string(value)))
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			out.WriteByte(' ')
		}
	case *ast.String:
		out.Write(n.Value)
	case *ast.AutoLink:
		out.Write(n.Label(source))
	}
}

// unescape resolves backslash escapes and character references.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '&') < 0 {
		return s
	}
	var out strings.Builder
	for s != "" {
		at := strings.IndexAny(s, `\&`)
		if at < 0 {
			break
		}
		out.WriteString(s[:at])
		s = s[at:]
		value, size := escapeAt(s)
		out.WriteString(value)
		s = s[size:]
	}
	out.WriteString(s)
	return out.String()
}

// escapeAt reads the escape or character reference that s starts with: what it
// stands for and how many bytes it is written in. What is neither stands for
// itself.
func escapeAt(s string) (value string, size int) {
	if s[0] == '\\' && len(s) > 1 && isPunct(s[1]) {
		return s[1:2], 2
	}
	// The longest name of HTML has 31 letters.
	const longest = 34
	if end := strings.IndexByte(s[:min(len(s), longest)], ';'); s[0] == '&' && end > 1 {
		reference := []byte(s[:end+1])
		resolved := util.ResolveNumericReferences(reference)
		if s[1] != '#' {
			resolved = util.ResolveEntityNames(reference)
		}
		if !bytes.Equal(resolved, reference) {
			return string(resolved), end + 1
		}
	}
	return s[:1], 1
}

// wikilinkParser shows a wikilink in a heading as its label, or as its target
// when it has none.
type wikilinkParser struct{}

// Trigger gives the characters a wikilink can start with.
func (wikilinkParser) Trigger() []byte { return []byte{'[', '!'} }

// Parse reads the wikilink at the reader's position, if one stands there.
func (wikilinkParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	source := string(line)
	link, end, ok := wikilinkAt(source, 0)
	if !ok {
		return nil
	}
	block.Advance(end)
	label := link.Label
	if label == "" {
		label = source[link.DestStart:link.DestEnd]
	}
	return ast.NewString([]byte(label))
}
