package notes

import "strings"

// inlineScanner finds the links in one stretch of inline text. Every character
// is looked at a bounded number of times, whatever the text is: searches that
// failed once are not repeated, and closing marks are found by table.
type inlineScanner struct {
	c *collector
	v view
	s string // what is scanned; its offsets are the view's

	openers []opener
	// spent is the number of openers, from the bottom, that may no longer
	// start a link because one was found inside them: links do not nest.
	spent       int
	lastBracket int // offset of the last [ or ] that stands for itself

	ticks   map[int]positions // runs of backticks by their length
	dollars positions         // where inline math may end
	missing map[string]bool   // closing marks that do not follow any more
}

// opener is a [ or ![ that may start a link.
type opener struct {
	at    int
	text  int // where the label starts
	image bool
}

// inline scans part of a view as inline text.
func (c *collector) inline(v view, start, end int) {
	s := v.text[:end]
	if strings.IndexByte(s[start:], '[') < 0 && strings.IndexByte(s[start:], '<') < 0 {
		return
	}
	scanner := &inlineScanner{c: c, v: v, s: s, lastBracket: -1}
	scanner.scan(start)
}

// stops marks the bytes that may start something.
var stops = [256]bool{'\\': true, '`': true, '<': true, '$': true, '[': true, ']': true, '!': true}

func (x *inlineScanner) scan(i int) {
	for i < len(x.s) {
		if !stops[x.s[i]] {
			i++
			continue
		}
		i = x.step(i)
	}
}

// step handles the byte at i and gives the offset to go on from.
func (x *inlineScanner) step(i int) int {
	switch x.s[i] {
	case '\\':
		if i+1 < len(x.s) && isPunct(x.s[i+1]) {
			return i + 2
		}
	case '`':
		return x.code(i)
	case '<':
		return x.angle(i)
	case '$':
		return x.math(i)
	case ']':
		return x.closeBracket(i)
	case '!':
		if i+1 < len(x.s) && x.s[i+1] == '[' {
			return x.openBracket(i, i+1)
		}
	case '[':
		return x.openBracket(i, i)
	}
	return i + 1
}

// code skips a code span, or the backticks that start none.
func (x *inlineScanner) code(i int) int {
	if x.ticks == nil {
		x.ticks = tickRuns(x.s, i)
	}
	n := tickRun(x.s, i)
	if end := x.ticks[n].from(i + n); end >= 0 {
		return end + n
	}
	return i + n
}

func tickRun(s string, i int) int {
	return len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
}

func tickRuns(s string, i int) map[int]positions {
	runs := map[int]positions{}
	for i < len(s) {
		next := strings.IndexByte(s[i:], '`')
		if next < 0 {
			break
		}
		i += next
		n := tickRun(s, i)
		runs[n] = append(runs[n], i)
		i += n
	}
	return runs
}

// math skips $…$ on one line and $$…$$. Money is no math: an opening $ has
// no space behind it, a closing one none before it and no digit behind it.
func (x *inlineScanner) math(i int) int {
	if strings.HasPrefix(x.s[i:], "$$") {
		if end := x.find("$$", i+2); end >= 0 {
			return end + 2
		}
		return i + 2
	}
	if i+1 >= len(x.s) || isSpace(x.s[i+1]) {
		return i + 1
	}
	if x.dollars == nil {
		x.dollars = mathEnds(x.s, i)
	}
	end := x.dollars.from(i + 2)
	if end < 0 || strings.IndexByte(x.s[i:end], '\n') >= 0 {
		return i + 1
	}
	return end + 1
}

func mathEnds(s string, i int) positions {
	ends := positions{}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] != '$' || i == 0 || isSpace(s[i-1]):
		case i+1 < len(s) && isDigit(s[i+1]):
		default:
			ends = append(ends, i)
		}
	}
	return ends
}

// find gives the offset of a closing mark from at on, -1 without one.
func (x *inlineScanner) find(mark string, at int) int {
	if at > len(x.s) || x.missing[mark] {
		return -1
	}
	next := strings.Index(x.s[at:], mark)
	if next < 0 {
		if x.missing == nil {
			x.missing = map[string]bool{}
		}
		x.missing[mark] = true
		return -1
	}
	return at + next
}

// openBracket reads the wikilink at offset i, or notes that a label may start.
func (x *inlineScanner) openBracket(i, bracket int) int {
	if link, end, ok := wikilinkAt(x.s, i); ok {
		x.c.add(x.v, link)
		x.afterWikilink(i, bracket, end)
		return end
	}
	x.openers = append(x.openers, opener{at: i, text: bracket + 1, image: bracket > i})
	x.lastBracket = bracket
	return bracket + 1
}

// afterWikilink reads [[x]](dest) as the Markdown link that it is on GitHub,
// beside the wikilink that Obsidian sees.
func (x *inlineScanner) afterWikilink(i, bracket, end int) {
	x.lastBracket = end - 1
	if t, ok := inlineTail(x.s, end); ok {
		x.emit(opener{at: i, text: bracket + 1, image: bracket > i}, end-1, t)
	}
}

// closeBracket ends the label of the innermost opener.
func (x *inlineScanner) closeBracket(i int) int {
	last := len(x.openers) - 1
	if last < 0 {
		x.lastBracket = i
		return i + 1
	}
	o := x.openers[last]
	x.openers = x.openers[:last]
	live := o.image || last >= x.spent
	x.spent = min(x.spent, last)
	whole := x.lastBracket < o.text // no bracket inside the label
	x.lastBracket = i
	if !live {
		return i + 1
	}
	if t, ok := inlineTail(x.s, i+1); ok {
		x.emit(o, i, t)
		x.linked(o)
		return t.end
	}
	if end, ok := x.reference(o, i, whole); ok {
		x.linked(o)
		return end
	}
	return i + 1
}

// linked ends the chances of the links around one that was found.
func (x *inlineScanner) linked(o opener) {
	if !o.image {
		x.spent = len(x.openers)
	}
}

func (x *inlineScanner) emit(o opener, labelEnd int, t tail) {
	link := Link{
		Form: FormMarkdown, Start: o.at, End: t.end,
		Label: x.s[o.text:labelEnd], Embed: o.image, Angle: t.angle,
	}
	link.setDestination(x.s, t.destStart, t.destEnd)
	if link.Dest != "" {
		x.c.add(x.v, link)
	}
}

// reference reads [label][ref], [ref][] or [ref], as far as the label is
// defined, and gives the offset behind it. whole says that the text between
// the opener and the ] at i is a label by itself.
func (x *inlineScanner) reference(o opener, i int, whole bool) (int, bool) {
	if len(x.c.labels) == 0 {
		return 0, false
	}
	if end, ok := labelAt(x.s, i+1); ok {
		if x.defined(x.s[i+2 : end-1]) {
			return end, true
		}
		return 0, false
	}
	if !whole || i-o.text > maxLabel || !x.defined(x.s[o.text:i]) {
		return 0, false
	}
	if strings.HasPrefix(x.s[i+1:], "[]") {
		return i + 3, true
	}
	return i + 1, true
}

func (x *inlineScanner) defined(label string) bool {
	_, ok := x.c.labels[normalLabel(label)]
	return ok
}
