package notes

import "strings"

// Form is how a link is written. The texts are stored and do not change.
type Form string

// The forms of a link.
const (
	FormWiki       Form = "wiki"       // [[Target#Sub|Label]], ![[Target]]
	FormMarkdown   Form = "markdown"   // [Label](target.md#sub "title"), ![Label](x.png)
	FormDefinition Form = "definition" // [Label]: target.md "title"
	FormHTML       Form = "html"       // <a href="target.md">, <img src>, <video poster>
	FormCanvas     Form = "canvas"     // the "file" of a node in a .canvas file
	FormBase       Form = "base"       // a path in an expression of a .base file
)

// Place is where a link stands, as far as that changes how it is rewritten.
// The texts are stored and do not change.
type Place string

// The places of a link.
const (
	PlaceBody    Place = ""        // the text, Obsidian comments included
	PlaceFront   Place = "front"   // the frontmatter
	PlaceComment Place = "comment" // an HTML comment
	PlaceCanvas  Place = "canvas"  // a JSON string of a .canvas file
	PlaceBase    Place = "base"    // an expression of a .base file
)

// Link is one link as written. It is not resolved: what it means depends on
// which files there are.
type Link struct {
	// Form is how the link is written, Place where.
	Form  Form
	Place Place
	// Start and End are the span of the whole link. The span of a link whose
	// label holds another one encloses that one's.
	Start, End int
	// DestStart and DestEnd are the span of the destination as written, the
	// subpath included, without brackets, quotes and outer blanks.
	DestStart, DestEnd int
	// PathEnd is where the path part of the destination ends: at its first
	// `#` or `?`, else at DestEnd.
	PathEnd int
	// Line is the number of the line on which the link starts, from 1.
	Line int
	// Dest is the destination as written, without the escapes of the file
	// around it (YAML quotes, JSON).
	Dest string
	// Target is the path part: escapes resolved and percent encoding taken
	// off, except in a wikilink, which has none. It is empty when the link
	// is to a place in its own file.
	Target string
	// Sub is what follows the first `#`: a heading, a chain of headings or
	// `^block`, decoded like Target.
	Sub string
	// Label is the text shown, as written: what stands behind the pipe of a
	// wikilink, in the brackets of a Markdown link, or the label that a
	// definition defines.
	Label string
	// Embed reports whether the target is shown in place: ![[x]], ![](x),
	// src and poster.
	Embed bool
	// Angle reports whether the destination stands in angle brackets.
	Angle bool
	// Quote is the quote, ' or ", of the YAML scalar, HTML attribute, JSON
	// string or expression around the link, whose escapes a new destination
	// must follow; 0 without one.
	Quote byte
}

// Key gives the name under which the link's target is looked up, that of Key;
// it is empty for a link that names no file.
func (l Link) Key() string {
	if l.Target == "" || l.External() {
		return ""
	}
	return Key(l.Target)
}

// Self reports whether the link is to a place in the file it stands in and
// names no path.
func (l Link) Self() bool { return l.Target == "" && l.Sub != "" }

// External reports whether the link leaves the repository: it has a scheme of
// at least two characters (so that C:\x has none) or names a host. A note's
// name may hold a colon, so a wikilink needs :// for it.
func (l Link) External() bool {
	if l.Form == FormCanvas {
		return false
	}
	rest := l.Target[schemeEnd(l.Target):]
	if l.Form == FormWiki || l.Form == FormBase {
		return len(rest) < len(l.Target) && strings.HasPrefix(rest, "//")
	}
	return len(rest) < len(l.Target) || strings.HasPrefix(rest, "//")
}

// maxScheme is how far a scheme is looked for, in bytes.
const maxScheme = 64

// schemeEnd gives the length of the scheme and colon that s starts with, 0
// without one (RFC 3986, 3.1).
func schemeEnd(s string) int {
	for i := range min(len(s), maxScheme) {
		switch c := s[i]; {
		case isLetter(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		case i > 1 && c == ':':
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// setDestination fills in what follows from the destination of a Markdown or
// HTML link, whose span in source is at and behind it.
func (l *Link) setDestination(source string, start, end int) {
	l.DestStart, l.DestEnd = start, end
	l.Dest = source[start:end]
	var pathLen int
	l.Target, l.Sub, pathLen = splitDestination(l.Dest, l.Form != FormHTML)
	l.PathEnd = start + pathLen
}

// splitDestination cuts a URL-like destination into path and fragment. The
// order is: escapes and character references, then the cut at the first # or
// ?, then one level of percent encoding. An encoded # is part of the name.
func splitDestination(dest string, backslash bool) (target, sub string, pathLen int) {
	var path, fragment strings.Builder
	pathLen = len(dest)
	mark := byte(0)
	for i := 0; i < len(dest); {
		value, size := dest[i:i+1], 1
		if c := dest[i]; c == '&' || c == '\\' && backslash {
			value, size = escapeAt(dest[i:])
		}
		switch {
		case mark != '#' && value == "#", mark == 0 && value == "?":
			mark, pathLen = value[0], min(pathLen, i)
		case mark == 0:
			path.WriteString(value)
		case mark == '#':
			fragment.WriteString(value)
		}
		i += size
	}
	return percentDecode(path.String()), percentDecode(fragment.String()), pathLen
}
