package notes

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"vault/platform/fault"
)

// quoted is a scalar inside the frontmatter that is not written plainly: in
// quotes, which belong to the span, or as a block below | or >.
type quoted struct {
	start, end int
	quote      byte // ", ' or | for both kinds of block
}

// frontReader turns the YAML of one frontmatter into values. Nodes are counted
// before a value is built from them, so that aliases cannot blow it up.
type frontReader struct {
	text   string
	front  *Front
	lines  Lines // of the YAML alone
	line   int   // lines of the file before the YAML
	nodes  int
	quotes []quoted
}

// readFront fills in the fields of a frontmatter.
func readFront(text string, front *Front) *FrontError {
	r := &frontReader{text: text, front: front, line: 1}
	inner := text[front.TextStart:front.TextEnd]
	if len(inner) > MaxFrontBytes {
		return &FrontError{Line: 1, Msg: fmt.Sprintf("the frontmatter is longer than %d KiB", MaxFrontBytes>>10)}
	}
	r.lines = LinesOf(inner)
	root, err := loadYAML(inner)
	if err != nil {
		return r.syntaxError(err)
	}
	if root == nil {
		return nil
	}
	fields, bad := r.root(root)
	if bad != nil {
		return bad
	}
	front.Fields, front.quotes = fields, r.quotes
	r.setEnds(root)
	return nil
}

// loadYAML parses one document to its node, nil when there is none.
func loadYAML(text string) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("the YAML reader gave up: %v", p)
		}
	}()
	if !hasContent(text) {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Load([]byte(text), &document); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if document.Kind != yaml.DocumentNode || len(document.Content) == 0 {
		return nil, nil
	}
	return document.Content[0], nil
}

// hasContent reports whether any line is more than blank or a comment.
func hasContent(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimLeft(strings.TrimRight(line, "\r"), " \t")
		if line != "" && line[0] != '#' {
			return true
		}
	}
	return false
}

// syntaxError brings the reader's complaint into our words and file lines.
func (r *frontReader) syntaxError(err error) *FrontError {
	last := max(r.lines.Count(), 1)
	var one *yaml.LoadError
	var many *yaml.LoadErrors
	switch {
	case errors.As(err, &many):
		// The one complaint that comes as a list here has no position.
		return &FrontError{Line: r.line + r.documentEnd(), Msg: "a second YAML document starts inside the frontmatter"}
	case errors.As(err, &one):
		line := one.Mark.Line
		if line < 1 || line > last { // an opened construct runs to the end
			line = one.ContextMark.Line
		}
		return &FrontError{Line: r.line + min(max(line, 1), last), Msg: readerMessage(one.Message)}
	}
	return &FrontError{Line: r.line + 1, Msg: readerMessage(err.Error())}
}

// readerMessage quotes a complaint of the YAML reader that repeats more of the
// note than plain letters.
func readerMessage(msg string) string {
	const longest = 200
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if len(msg) > longest || strings.ContainsFunc(msg, odd) {
		return fault.Quote(msg)
	}
	return msg
}

// documentEnd gives the line of the YAML that ends its first document.
func (r *frontReader) documentEnd() int {
	for n := 1; n <= r.lines.Count(); n++ {
		if strings.HasPrefix(r.lines.Line(n), "...") {
			return n
		}
	}
	return 1
}

func (r *frontReader) bad(n *yaml.Node, format string, args ...any) *FrontError {
	return &FrontError{Line: r.line + max(n.Line, 1), Msg: fmt.Sprintf(format, args...)}
}

func (r *frontReader) root(n *yaml.Node) ([]Field, *FrontError) {
	if n.Kind == yaml.ScalarNode && plain(n) && plainKind(n.Value) == KindNull {
		return nil, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, r.bad(n, "the frontmatter is not a list of `key: value` entries")
	}
	value, bad := r.value(n, 1)
	return value.fields, bad
}

// value builds the value of a node at this depth.
func (r *frontReader) value(n *yaml.Node, depth int) (Value, *FrontError) {
	if r.nodes++; r.nodes > MaxFrontNodes {
		return Value{}, r.bad(n, "the frontmatter has more than %d values", MaxFrontNodes)
	}
	if depth > MaxFrontDepth {
		return Value{}, r.bad(n, "the frontmatter nests deeper than %d levels", MaxFrontDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		if n.Alias == nil {
			return Value{}, r.bad(n, "the alias %s names nothing", fault.Quote(n.Value))
		}
		return r.value(n.Alias, depth)
	case yaml.SequenceNode:
		return r.list(n, depth)
	case yaml.MappingNode:
		return r.fields(n, depth)
	}
	r.noteQuote(n)
	return Value{kind: scalarKind(n), text: n.Value}, nil
}

func (r *frontReader) list(n *yaml.Node, depth int) (Value, *FrontError) {
	items := make([]Value, 0, len(n.Content))
	for _, child := range n.Content {
		item, bad := r.value(child, depth+1)
		if bad != nil {
			return Value{}, bad
		}
		items = append(items, item)
	}
	return Value{kind: KindList, list: items}, nil
}

func (r *frontReader) fields(n *yaml.Node, depth int) (Value, *FrontError) {
	fields := make([]Field, 0, len(n.Content)/2)
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		field, bad := r.field(n.Content[i], n.Content[i+1], depth)
		if bad != nil {
			return Value{}, bad
		}
		if line, ok := seen[field.Key]; ok {
			return Value{}, r.bad(n.Content[i], "the key %s stands twice, first on line %d", fault.Quote(field.Key), line)
		}
		seen[field.Key] = field.Line
		fields = append(fields, field)
	}
	return Value{kind: KindMap, fields: fields}, nil
}

func (r *frontReader) field(key, value *yaml.Node, depth int) (Field, *FrontError) {
	name, bad := r.value(key, depth+1)
	if bad != nil {
		return Field{}, bad
	}
	if name.kind == KindList || name.kind == KindMap {
		return Field{}, r.bad(key, "a key is a list or a map")
	}
	content, bad := r.value(value, depth+1)
	if bad != nil {
		return Field{}, bad
	}
	return Field{
		Key:        name.text,
		Value:      content,
		Line:       r.line + key.Line,
		KeyStart:   r.offset(key),
		ValueStart: r.offset(value),
	}, nil
}

// setEnds gives the top entries their ends, which are known only when each
// starts a line of its own.
func (r *frontReader) setEnds(root *yaml.Node) {
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return
	}
	end := r.front.TextEnd
	for i := len(r.front.Fields) - 1; i >= 0; i-- {
		field := &r.front.Fields[i]
		field.End = end
		end = r.front.TextStart + r.lines.Offset(field.Line-r.line)
	}
}

// offset gives the byte offset of a node, whose column counts runes.
func (r *frontReader) offset(n *yaml.Node) int {
	start := r.lines.Offset(n.Line)
	line := r.lines.Slice(n.Line, n.Line)
	for column := 1; column < n.Column && line != ""; column++ {
		_, size := utf8.DecodeRuneInString(line)
		start, line = start+size, line[size:]
	}
	return min(r.front.TextStart+start, r.front.TextEnd)
}

// noteQuote remembers where a scalar stands that is not written plainly.
func (r *frontReader) noteQuote(n *yaml.Node) {
	var quote byte
	switch {
	case n.Style&yaml.DoubleQuotedStyle != 0:
		quote = '"'
	case n.Style&yaml.SingleQuotedStyle != 0:
		quote = '\''
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		r.quotes = append(r.quotes, r.block(n.Line))
		return
	default:
		return
	}
	start := r.offset(n)
	if n.Style&yaml.TaggedStyle != 0 || n.Anchor != "" {
		start += max(0, strings.IndexByte(r.text[start:r.front.TextEnd], quote))
	}
	r.quotes = append(r.quotes, quoted{start: start, end: r.quoteEnd(start, quote), quote: quote})
}

// block gives the lines of the block scalar whose | or > stands on a line:
// those below it that are indented as far as the first.
func (r *frontReader) block(header int) quoted {
	first, indent := header+1, -1
	last := header
	for n := first; n <= r.lines.Count(); n++ {
		line := r.lines.Line(n)
		depth := len(line) - len(strings.TrimLeft(line, " "))
		if strings.TrimSpace(line) == "" {
			continue
		}
		if indent < 0 {
			indent = depth
		}
		if depth < indent {
			break
		}
		last = n
	}
	base := r.front.TextStart
	return quoted{start: base + r.lines.Offset(first), end: base + r.lines.Offset(last+1), quote: '|'}
}

// quoteEnd gives the offset behind the closing quote.
func (r *frontReader) quoteEnd(start int, quote byte) int {
	for i := start + 1; i < r.front.TextEnd; i++ {
		switch c := r.text[i]; {
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && i+1 < r.front.TextEnd && r.text[i+1] == quote:
			i++
		case c == quote:
			return i + 1
		}
	}
	return r.front.TextEnd
}

func plain(n *yaml.Node) bool {
	const notPlain = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	return n.Style&notPlain == 0
}

// scalarKind resolves a scalar by the core schema of YAML 1.2. Of explicit
// tags only those of the core schema mean something; any other leaves text.
func scalarKind(n *yaml.Node) Kind {
	if n.Style&yaml.TaggedStyle == 0 {
		if plain(n) {
			return plainKind(n.Value)
		}
		return KindString
	}
	kind := plainKind(n.Value)
	switch tag := n.ShortTag(); {
	case tag == "!!null" && kind == KindNull,
		tag == "!!bool" && kind == KindBool,
		tag == "!!int" && kind == KindInt:
		return kind
	case tag == "!!float" && (kind == KindInt || kind == KindFloat):
		return KindFloat
	}
	return KindString
}
