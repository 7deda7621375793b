package notes

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Heading is one heading of a note.
type Heading struct {
	// Line is the number of the heading's first line, from 1; Level is 1 to
	// 6.
	Line, Level int
	// Text is what a reader sees: inline markup is taken off.
	Text string
	// Start is the offset of the heading's first byte, behind the marks of
	// the quote or list it stands in; End is that behind its last line, the
	// line end included, and the line of dashes where one makes the heading.
	Start, End int
	// TextStart and TextEnd are the span of the text as written.
	TextStart, TextEnd int
}

// readHeadings collects the headings, those in quotes and lists included: they
// are headings for CommonMark and for Obsidian's outline.
func (d *Doc) readHeadings() {
	line, counted := 1, 0
	for n := d.root; n != nil; n = nextNode(n) {
		node, ok := n.(*ast.Heading)
		if !ok || node.Pos() < 0 {
			continue
		}
		h := d.heading(node)
		if _, table := tableStart(d.Text[h.TextStart:h.TextEnd]); table {
			continue // the dashes below a table are a rule (GFM 0.29, 4.10)
		}
		line += strings.Count(d.Text[counted:h.Start], "\n")
		counted = h.Start
		h.Line = line
		d.Headings = append(d.Headings, h)
	}
}

func (d *Doc) heading(node *ast.Heading) Heading {
	h := Heading{Level: node.Level}
	lines := node.Lines()
	if lines.Len() == 0 { // "##" alone
		h.Start = d.bareHeading(d.Body+node.Pos(), node.Level)
		h.TextStart = h.Start + node.Level
		h.TextEnd = h.TextStart
		h.End = lineEnd(d.Text, h.TextEnd)
		return h
	}
	h.TextStart = d.Body + lines.At(0).Start
	h.TextEnd = d.Body + lines.At(lines.Len()-1).Stop
	h.TextEnd = h.TextStart + len(strings.TrimRight(d.Text[h.TextStart:h.TextEnd], " \t\r\n"))
	h.End = lineEnd(d.Text, h.TextEnd)
	h.Start = h.TextStart
	if before := strings.TrimRight(d.Text[:h.TextStart], " \t\r\v\f"); strings.HasSuffix(before, "#") {
		h.Start = len(before) - node.Level
	} else { // the line of dashes below belongs to it
		h.End = lineEnd(d.Text, h.End)
	}
	source := make([]string, 0, lines.Len())
	for _, segment := range lines.Sliced(0, lines.Len()) {
		source = append(source, strings.Trim(d.Text[d.Body+segment.Start:d.Body+segment.Stop], " \t\r\n"))
	}
	h.Text = d.inlineText(strings.Join(source, "\n"))
	return h
}

// bareHeading finds the marks of a heading without text. Where a tab stands
// before them, behind the mark of a quote or list, goldmark's position is up
// to three bytes too far.
func (d *Doc) bareHeading(position, level int) int {
	const overshoot = 3
	from := d.Body
	if n := len(d.Headings); n > 0 {
		from = d.Headings[n-1].End
	}
	marks := strings.Repeat("#", level)
	for at := max(position-overshoot, from); at < position; at++ {
		if strings.HasPrefix(d.Text[at:], marks) && opensBehindTab(d.Text[:at]) {
			return at
		}
	}
	return position
}

// opensBehindTab reports whether a text ends with a line of nothing but marks
// of quotes and lists, a tab among them.
func opensBehindTab(before string) bool {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.Trim(line, " \t>-+*0123456789.)") == "" && strings.IndexByte(line, '\t') >= 0
}

// lineEnd gives the offset behind the line that holds offset.
func lineEnd(text string, offset int) int {
	if next := strings.IndexByte(text[offset:], '\n'); next >= 0 {
		return offset + next + 1
	}
	return len(text)
}
