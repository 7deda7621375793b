package notes

import (
	"slices"
	"strings"
)

// frontLinks scans the frontmatter: strings in quotes without their escapes,
// everything else line by line. A frontmatter that cannot be read is scanned
// as if nothing were quoted, so that its links are not lost to a slip
// elsewhere in it. Unquoted [[links]], which YAML reads as nested lists, count.
func (d *Doc) frontLinks(c *collector) {
	if d.Front == nil {
		return
	}
	c.place = PlaceFront
	defer func() { c.place, c.quote = PlaceBody, 0 }()
	at := d.Front.TextStart
	quotes := slices.Clone(d.Front.quotes)
	slices.SortFunc(quotes, func(a, b quoted) int { return a.start - b.start })
	for _, q := range quotes {
		if q.start < at { // seen through another alias
			continue
		}
		c.plainYAML(at, q.start)
		c.quotedYAML(q)
		at = q.end
	}
	c.plainYAML(at, d.Front.TextEnd)
}

// plainYAML scans YAML between quoted strings, comments left out.
func (c *collector) plainYAML(start, end int) {
	found := len(c.links)
	c.quote = 0
	for at := start; at < end; {
		next := min(lineEnd(c.text, at), end)
		c.whole(fileView(c.text, at, commentStart(c.text, at, next)))
		at = next
	}
	// What holds a bracket is a list of lists, not a link.
	kept := slices.DeleteFunc(c.links[found:], func(l Link) bool {
		return l.Form == FormWiki && strings.ContainsAny(l.Dest, "[]")
	})
	c.links = c.links[:found+len(kept)]
}

// commentStart gives the offset in a line at which a YAML comment starts, or
// its end.
func commentStart(text string, start, end int) int {
	for i := start; i < end; i++ {
		if text[i] == '#' && (i == start || isSpace(text[i-1])) {
			return i
		}
	}
	return end
}

// quotedYAML scans one string.
func (c *collector) quotedYAML(q quoted) {
	c.quote = q.quote
	switch q.quote {
	case '|':
		c.quote = 0
		for at := q.start; at < q.end; {
			next := min(lineEnd(c.text, at), q.end)
			c.whole(fileView(c.text, at, next))
			at = next
		}
		return
	case '\'':
		c.whole(singleQuoted(c.text, q.start+1, q.end-1))
	default:
		c.whole(doubleQuoted(c.text, q.start+1, q.end-1))
	}
}

func (c *collector) whole(v view) { c.inline(v, 0, len(v.text)) }

// fileView is the view of a part of the file as it stands.
func fileView(text string, start, end int) view {
	return view{text: text[start:end], pieces: []viewPiece{{from: start, end: end}}}
}

// singleQuoted is the view of what stands between single quotes, where ” is a
// quote and a line break is a blank.
func singleQuoted(text string, start, end int) view {
	var b viewBuilder
	at := start
	for i := start; i < end; i++ {
		switch {
		case text[i] == '\'':
			b.add(text[at:i], at, i)
			b.add("'", i, min(i+2, end))
			i++
			at = min(i+1, end)
		case text[i] == '\n':
			b.add(text[at:i], at, i)
			at = b.lineBreak(text, i, end)
			i = at - 1
		}
	}
	b.add(text[at:max(at, end)], at, max(at, end))
	return b.view()
}

// doubleQuoted is the view of what stands between double quotes in YAML or
// JSON, escapes resolved.
func doubleQuoted(text string, start, end int) view {
	var b viewBuilder
	at := start
	for i := start; i < end; i++ {
		switch text[i] {
		case '\\':
			b.add(text[at:i], at, i)
			value, size := stringEscape(text[i:end])
			b.add(value, i, i+size)
			at = i + size
			i = at - 1
		case '\n':
			b.add(text[at:i], at, i)
			at = b.lineBreak(text, i, end)
			i = at - 1
		}
	}
	b.add(text[at:max(at, end)], at, max(at, end))
	return b.view()
}

// lineBreak adds a blank for the line break at i and the indentation behind
// it, and gives the offset at which the text goes on.
func (b *viewBuilder) lineBreak(text string, i, end int) int {
	next := i + 1
	for next < end && isSpace(text[next]) {
		next++
	}
	b.add(" ", i, next)
	return next
}
