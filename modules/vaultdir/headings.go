package vaultdir

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var (
	// containers are the quote and list marks a heading or a fence may stand
	// behind.
	containers = `^((?:[ ]*(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ ]))*[ ]*)`
	atxHeading = regexp.MustCompile(containers + `(#{1,6})([ ].*|)$`)
	underline  = regexp.MustCompile(containers + `(=+|-+)[ ]*$`)
	fenceLine  = regexp.MustCompile(containers + "(`{3,}|~{3,})(.*)$")
	htmlTitle  = regexp.MustCompile(`(?i)<(/?)h[12]\b`)
)

// pushHeadings moves every heading of text below the level of the section it
// will stand in, keeping the distances between them. Lines that look like
// headings are moved inside code too: readers that are no Markdown parsers
// take them for headings all the same, and a comment with two more hashes is
// still a comment.
func pushHeadings(text string) string {
	lines := flattenUnderlines(strings.Split(text, "\n"))
	shift := 0
	for _, line := range lines {
		if m := atxHeading.FindStringSubmatch(line); m != nil {
			shift = max(shift, sectionLevel+1-len(m[2]))
		}
	}
	for i, line := range lines {
		if m := atxHeading.FindStringSubmatch(line); m != nil {
			line = m[1] + strings.Repeat("#", min(len(m[2])+shift, 6)) + m[3]
		}
		lines[i] = htmlTitle.ReplaceAllString(line, "<${1}h3")
	}
	return strings.Join(lines, "\n")
}

// flattenUnderlines turns headings that are underlined with = or - into ones
// that start with hashes. Inside a fence nothing is underlined.
func flattenUnderlines(lines []string) []string {
	var out []string
	var fence fence
	for _, line := range lines {
		inside := fence.open()
		fence.next(line)
		last := len(out) - 1
		m := underline.FindStringSubmatch(line)
		if m == nil || inside || last < 0 || !underlinable(out[last]) {
			out = append(out, line)
			continue
		}
		hashes := "# "
		if m[2][0] == '-' {
			hashes = "## "
		}
		prefix := containerMarks.FindString(out[last])
		out[last] = prefix + hashes + out[last][len(prefix):]
	}
	return out
}

var containerMarks = regexp.MustCompile(containers)

// dropUnderlines takes out every line that could underline a heading.
func dropUnderlines(text string) string {
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		if !underline.MatchString(line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// underlinable reports whether a line underlined by the next would be a
// heading: it holds text and is none of the lines that end a paragraph.
func underlinable(line string) bool {
	rest := strings.TrimSpace(line[len(containerMarks.FindString(line)):])
	return rest != "" && !atxHeading.MatchString(line) && !fenceLine.MatchString(line)
}

// fence follows code fences through the lines of a text.
type fence struct{ mark string }

func (f *fence) open() bool { return f.mark != "" }

// next takes the text's next line.
func (f *fence) next(line string) {
	m := fenceLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	mark, info := m[2], m[3]
	switch {
	case !f.open() && (mark[0] == '~' || !strings.Contains(info, "`")):
		f.mark = mark
	case f.open() && mark[0] == f.mark[0] && len(mark) >= len(f.mark) && strings.TrimSpace(info) == "":
		f.mark = ""
	}
}

// closeBlocks ends a fence or an HTML comment that text leaves open.
func closeBlocks(text string) string {
	var f fence
	for line := range strings.SplitSeq(text, "\n") {
		f.next(line)
	}
	if f.open() {
		text += "\n" + f.mark
	}
	return closeComment(text)
}

// closeComment ends an HTML comment that text leaves open. Inside a paragraph
// it is no comment to a Markdown parser; to other readers it is.
func closeComment(text string) string {
	if strings.LastIndex(text, "<!--") > strings.LastIndex(text, "-->") {
		text += "\n-->"
	}
	return text
}

// contained reports whether a section heading that follows text is still one,
// and the only one, to a Markdown parser.
func contained(body string) bool {
	const probe = "\n\n## probe\n"
	source := []byte(body + probe)
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	last, ok := root.LastChild().(*ast.Heading)
	if !ok || last.Level != sectionLevel || string(last.Lines().Value(source)) != "probe" {
		return false
	}
	sections := 0
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering && h.Level <= sectionLevel {
			sections++
		}
		return ast.WalkContinue, nil
	})
	return sections == 1
}
