package notes

import (
	"regexp"
	"strings"
)

// baseMention finds where an expression of a base names a file or folder: the
// first argument of a function that takes one, or what a path is compared
// with. The quote is escaped when the expression stands in a YAML string.
var baseMention = regexp.MustCompile(
	`(?:\b(link|file|image|hasLink|linksTo|inFolder)\(\s*|\bfile\.(path|folder)\s*[!=]=\s*)(\\?["'])`)

// ScanBase gives the paths that the expressions of a .base file name. They are
// mentions: nothing rewrites them. A folder's Target ends in a slash.
func ScanBase(text string) []Link {
	c := &collector{text: text}
	for _, m := range baseMention.FindAllStringSubmatchIndex(text, -1) {
		quote := text[m[6]:m[7]]
		start := m[7]
		length := strings.Index(text[start:lineEnd(text, start)], quote)
		if length <= 0 {
			continue
		}
		link := baseLink(text, start, start+length)
		link.Quote = quote[len(quote)-1]
		if name := group(text, m, 1) + group(text, m, 2); name == "inFolder" || name == "folder" {
			link.Target = strings.TrimRight(link.Target, "/") + "/"
		}
		if link.Target != "/" {
			c.links = append(c.links, link)
		}
	}
	return c.finish()
}

func group(text string, m []int, n int) string {
	if m[2*n] < 0 {
		return ""
	}
	return text[m[2*n]:m[2*n+1]]
}

// baseLink reads a string of an expression as a path or a wikilink.
func baseLink(text string, start, end int) Link {
	if link, behind, ok := wikilinkAt(text[:end], start); ok && behind == end {
		link.Form, link.Place = FormBase, PlaceBase
		return link
	}
	content := text[start:end]
	target, sub, _ := strings.Cut(content, "#")
	return Link{
		Form: FormBase, Place: PlaceBase, Start: start, End: end,
		DestStart: start, DestEnd: end, PathEnd: start + len(target),
		Dest: content, Target: target, Sub: sub,
	}
}
