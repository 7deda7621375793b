package notes_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"vault/modules/notes"
)

// goldmarkLinks lists the inline links and images of a text as goldmark's full
// parser sees them: offset and destination.
func goldmarkLinks(source string) []string {
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader([]byte(source)))
	var out []string
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			if n.Reference == nil && len(n.Destination) > 0 {
				out = append(out, fmt.Sprintf("%d %s", n.Pos(), n.Destination))
			}
		case *ast.Image:
			if n.Reference == nil && len(n.Destination) > 0 {
				out = append(out, fmt.Sprintf("%d %s", n.Pos(), n.Destination))
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}

func ourLinks(source string) []string {
	var out []string
	for _, l := range notes.Parse(source).Links() {
		if l.Form == notes.FormMarkdown && l.Place == notes.PlaceBody {
			out = append(out, fmt.Sprintf("%d %s", l.Start, l.Dest))
		}
	}
	return out
}

// goldmarkHeadings lists the headings as goldmark's full parser sees them: line
// and level. Headings without text are left out, since it does not say where
// they stand.
func goldmarkHeadings(source string) []string {
	root := goldmark.New().Parser().Parse(text.NewReader([]byte(source)))
	var out []string
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering && h.Lines().Len() > 0 {
			line := 1 + strings.Count(source[:h.Lines().At(0).Start], "\n")
			out = append(out, fmt.Sprintf("%d %d", line, h.Level))
		}
		return ast.WalkContinue, nil
	})
	return out
}

func ourHeadings(source string) []string {
	var out []string
	for _, h := range notes.Parse(source).Headings {
		if h.TextStart < h.TextEnd {
			out = append(out, fmt.Sprintf("%d %d", h.Line, h.Level))
		}
	}
	return out
}

// TestRandomTextsAgainstGoldmark holds links and headings against goldmark's full
// parser on random texts of what the two have in common.
func TestRandomTextsAgainstGoldmark(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"[", "]", "(", ")", "![", "](", "[a](b)", "[x]", "\\", "`", "``", "<", ">", "<b>", "</b>", "<c d='e'>",
		"a", "b c", " ", "\n", "\n\n", "> ", "- ", "  ", "    ", "# ", "```\n", "~~~\n", "*", "_", "\"", "'", "&amp;",
		"<https://e.org/a>", "<u@e.org>", "[r]: z\n", "[r]", "[y][r]", "\\[", "(<p q>)", "(s \"t\")", "1. ", "---\n", "===\n", "\n# ", "é", "\t",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 40000 {
		var b strings.Builder
		b.WriteString("w ")
		for range 1 + random.IntN(24) {
			b.WriteString(pieces[random.IntN(len(pieces))])
		}
		source := b.String()
		if strings.Contains(source, "[[") || titleTouches.MatchString(source) {
			continue
		}
		theirs := goldmarkLinks(source)
		if slices.ContainsFunc(theirs, lenient) {
			continue
		}
		if diff := cmp.Diff(theirs, ourLinks(source)); diff != "" {
			t.Fatalf("links of %q (-goldmark +ours):\n%s", source, diff)
		}
		if diff := cmp.Diff(goldmarkHeadings(source), ourHeadings(source)); diff != "" {
			t.Fatalf("headings of %q (-goldmark +ours):\n%s", source, diff)
		}
	}
}

// titleTouches finds a title without the blank before it that CommonMark wants
// and goldmark does not.
var titleTouches = regexp.MustCompile(`>["'(]`)

// lenient tells the destinations that goldmark takes although CommonMark 0.31,
// 6.3, does not: parentheses that do not match, and < inside < >.
func lenient(link string) bool {
	link = strings.NewReplacer(`\\`, "", `\(`, "", `\)`, "").Replace(link)
	return strings.Count(link, "(") != strings.Count(link, ")") || strings.Contains(link, "<")
}

// TestCorpusAgainstGoldmark compares links and headings on real notes, when
// NOTES_CORPUS names a folder of them.
func TestCorpusAgainstGoldmark(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("NOTES_CORPUS")
	if corpus == "" {
		t.Skip("NOTES_CORPUS names no folder of notes")
	}
	err := filepath.WalkDir(corpus, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !notes.IsNote(path) {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		body := string(data)[notes.Parse(string(data)).Body:]
		if strings.HasPrefix(body, "---") {
			body = "\n" + body
		}
		if diff := cmp.Diff(goldmarkLinks(body), ourLinks(body)); diff != "" {
			t.Errorf("%s (-goldmark +ours):\n%s", path, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
