package notes

import "strings"

// linkAttributes are the attributes whose value is followed, and whether what
// it names is shown in place.
var linkAttributes = map[string]bool{"href": false, "src": true, "poster": true}

// rawTextTags hold text in which < starts nothing (HTML, 13.1.2).
var rawTextTags = map[string]string{"script": "</script", "style": "</style"}

// angle reads what starts with < inside inline text: a comment, a tag, an
// autolink. It gives the offset behind it, or behind the < alone.
func (x *inlineScanner) angle(i int) int {
	if i+1 >= len(x.s) {
		return i + 1
	}
	switch c := x.s[i+1]; {
	case c == '!' || c == '?':
		return x.declaration(i)
	case isLetter(c) || c == '/':
		if t, ok := tagAt(x.s, i); ok {
			x.c.tag(x.v, x.s, t)
			return t.end
		}
		if end := autolinkEnd(x.s, i); end > 0 {
			return end
		}
	}
	return i + 1
}

// declaration skips comments, processing instructions, CDATA and declarations.
// Links inside a comment are kept, as such.
func (x *inlineScanner) declaration(i int) int {
	rest := x.s[i:]
	closing := ">"
	switch {
	case strings.HasPrefix(rest, "<!-->"):
		return i + len("<!-->")
	case strings.HasPrefix(rest, "<!--->"):
		return i + len("<!--->")
	case strings.HasPrefix(rest, "<!--"):
		if end := x.find("-->", i+4); end >= 0 {
			x.c.inComment(x.v, i+4, end)
			return end + 3
		}
		return i + 4
	case strings.HasPrefix(rest, "<?"):
		closing = "?>"
	case strings.HasPrefix(rest, "<![CDATA["):
		closing = "]]>"
	case len(rest) < 3 || !isLetter(rest[2]):
		return i + 1
	}
	if end := x.find(closing, i+2); end >= 0 {
		return end + len(closing)
	}
	return i + 1
}

// inComment scans what stands inside an HTML comment.
func (c *collector) inComment(v view, start, end int) {
	outer := c.place
	if c.place == PlaceBody {
		c.place = PlaceComment
	}
	c.inline(v, start, end)
	c.place = outer
}

// html scans an HTML block: tags and comments, no Markdown.
func (c *collector) html(v view) {
	x := &inlineScanner{c: c, v: v, s: v.text}
	for i := 0; i < len(x.s); {
		next := strings.IndexByte(x.s[i:], '<')
		if next < 0 {
			return
		}
		i = x.angle(i + next)
		if raw := rawTextTags[tagNameBefore(x.s, i)]; raw != "" {
			i = skipRawText(x.s, i, raw)
		}
	}
}

// tagNameBefore gives the lower-case name of the tag of raw text that was
// opened right before offset i.
func tagNameBefore(s string, i int) string {
	if i == 0 || s[i-1] != '>' {
		return ""
	}
	open := strings.LastIndexByte(s[max(0, i-maxRawTag):i], '<')
	if open < 0 {
		return ""
	}
	open += max(0, i-maxRawTag)
	end := open + 1
	for end < i && isLetter(s[end]) {
		end++
	}
	return strings.ToLower(s[open+1 : end])
}

// maxRawTag is how long an opening tag of raw text may be to be recognised.
const maxRawTag = 512

func skipRawText(s string, i int, closing string) int {
	for at := i; ; {
		next := strings.Index(s[at:], "</")
		if next < 0 {
			return len(s)
		}
		at += next
		if len(s)-at >= len(closing) && strings.EqualFold(s[at:at+len(closing)], closing) {
			return at
		}
		at += 2
	}
}

// tag is an opening or closing tag with the attributes that name files.
type tag struct {
	start, end int
	attributes []attribute
}

// attribute is the span of an attribute's value, without its quotes.
type attribute struct {
	name       string
	start, end int
	quote      byte
}

// tag takes in the links of a tag.
func (c *collector) tag(v view, s string, t tag) {
	for _, a := range t.attributes {
		embed, ok := linkAttributes[a.name]
		start, end := trimSpan(s, a.start, a.end)
		if !ok || start == end {
			continue
		}
		link := Link{Form: FormHTML, Start: t.start, End: t.end, Embed: embed, Quote: a.quote}
		link.setDestination(s, start, end)
		c.add(v, link)
	}
}

// tagAt reads the tag at offset i (CommonMark 0.31, 6.6).
func tagAt(s string, i int) (tag, bool) {
	t := tag{start: i}
	at := i + 1
	closing := at < len(s) && s[at] == '/'
	if closing {
		at++
	}
	if at >= len(s) || !isLetter(s[at]) {
		return tag{}, false
	}
	for at < len(s) && (isLetter(s[at]) || isDigit(s[at]) || s[at] == '-') {
		at++
	}
	for {
		next := skipSpace(s, at)
		if a, end, ok := attributeAt(s, next); ok && next > at && !closing {
			t.attributes = append(t.attributes, a)
			at = end
			continue
		}
		at = next
		break
	}
	if !closing && at < len(s) && s[at] == '/' {
		at++
	}
	if at >= len(s) || s[at] != '>' {
		return tag{}, false
	}
	t.end = at + 1
	return t, true
}

// attributeAt reads `name`, `name=value` or `name="value"` at offset i.
func attributeAt(s string, i int) (attribute, int, bool) {
	at := i
	for at < len(s) && isAttributeName(s[at], at > i) {
		at++
	}
	if at == i {
		return attribute{}, 0, false
	}
	a := attribute{name: strings.ToLower(s[i:at])}
	equals := skipSpace(s, at)
	if equals >= len(s) || s[equals] != '=' {
		return a, at, true
	}
	return attributeValue(s, a, skipSpace(s, equals+1))
}

func attributeValue(s string, a attribute, at int) (attribute, int, bool) {
	if at >= len(s) {
		return attribute{}, 0, false
	}
	if s[at] == '"' || s[at] == '\'' {
		end := strings.IndexByte(s[at+1:], s[at])
		if end < 0 {
			return attribute{}, 0, false
		}
		a.quote, a.start, a.end = s[at], at+1, at+1+end
		return a, a.end + 1, true
	}
	a.start = at
	for at < len(s) && !isSpace(s[at]) && strings.IndexByte("\"'=<>`", s[at]) < 0 {
		at++
	}
	a.end = at
	return a, at, at > a.start
}

func isAttributeName(c byte, inside bool) bool {
	return isLetter(c) || c == '_' || c == ':' || inside && (isDigit(c) || c == '.' || c == '-')
}

// autolinkEnd gives the offset behind the autolink at i, a URI or an e-mail
// address, 0 when there is none (CommonMark 0.31, 6.5).
func autolinkEnd(s string, i int) int {
	const longestScheme = 32
	if n := schemeEnd(s[i+1:]); n > 0 && n <= longestScheme+1 {
		return uriEnd(s, i+1+n)
	}
	at := i + 1
	for at < len(s) && isMailName(s[at]) {
		at++
	}
	if at == i+1 || at >= len(s) || s[at] != '@' {
		return 0
	}
	for host := at + 1; host < len(s); host++ {
		switch c := s[host]; {
		case isLetter(c), isDigit(c), c == '-', c == '.':
		case c == '>' && host > at+1:
			return host + 1
		default:
			return 0
		}
	}
	return 0
}

func uriEnd(s string, at int) int {
	for ; at < len(s); at++ {
		switch c := s[at]; {
		case c == '>':
			return at + 1
		case c <= ' ' || c == '<':
			return 0
		}
	}
	return 0
}

func isMailName(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte(".!#$%&'*+/=?^_`{|}~-", c) >= 0
}
