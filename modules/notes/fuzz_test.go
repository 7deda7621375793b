package notes_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"vault/modules/notes"
)

var fuzzSeeds = []string{
	"", "\uFEFF", "---\n---\n", "---\na: &x [*x]\n---\n", "---\nup: '[[a''b]]' # c\nl: [\"[[x\\\\|y]]\", |\n---\n# H\n",
	"\uFEFF---\r\ntitle: Ä\r\n---\r\n# A `b` [[c|d]] #\r\ntext\r\n===\r\n",
	"> - [a [[b]] ![c](<d e>)](f \"g\")\n>   `x` $y$ <a href='z'>\n\n[r]: <a b> 'c'\n", "| a | b |\n|---|---|\n| [[x\\|y]] | `|` |\n",
	"%%\n# no\n[[a]]\n%%\n<!-- [[b]] -->\n", "[^1]: a\n\n    [b](c)\n", "$$\n[[1]]\n$$\n", ">\t# \n\n\n \n\n\n# x\n", "# \n#", "#\r0\n#", "{\"nodes\":[{\"file\":\"a\\u00e4.md\"},{\"text\":\"[[b\\n\\\"]]\"}]}",
	"file.inFolder(\"a\") link('[[b]]')", "\xff\xfe\x00", "e\u0301\u0301É\u212Aς",
}

func FuzzParse(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc := notes.Parse(text)
		if doc.Body < 0 || doc.Body > len(text) || doc.BOM != strings.HasPrefix(text, "\uFEFF") {
			t.Fatalf("body starts at %d of %d", doc.Body, len(text))
		}
		checkLines(t, text)
		checkFront(t, doc)
		checkHeadings(t, doc)
		_ = doc.Title("a.md")
	})
}

// checkLines holds the lines to giving the text back byte for byte.
func checkLines(t *testing.T, text string) {
	t.Helper()
	lines := notes.LinesOf(text)
	var whole strings.Builder
	for n := 1; n <= lines.Count(); n++ {
		whole.WriteString(lines.Slice(n, n))
		if !strings.HasPrefix(text[lines.Offset(n):], lines.Line(n)) || strings.Contains(lines.Line(n), "\n") {
			t.Fatalf("line %d is %q", n, lines.Line(n))
		}
	}
	if whole.String() != text {
		t.Fatalf("the lines give %q back", whole.String())
	}
}

func checkFront(t *testing.T, doc *notes.Doc) {
	t.Helper()
	front := doc.Front
	if front == nil {
		if doc.FrontError != nil {
			t.Fatalf("an error without a frontmatter: %v", doc.FrontError)
		}
		return
	}
	if front.Start > front.TextStart || front.TextStart > front.TextEnd || front.TextEnd > front.End || front.End != doc.Body {
		t.Fatalf("the block's spans are %+v", front)
	}
	last := strings.Count(doc.Text[:front.End], "\n") + 1
	if err := doc.FrontError; err != nil && (len(front.Fields) > 0 || err.Line < 1 || err.Line > last || err.Msg == "") {
		t.Fatalf("error %+v beside %d fields, %d lines", err, len(front.Fields), last)
	}
	for _, field := range front.Fields {
		if field.KeyStart < front.TextStart || field.ValueStart > front.TextEnd || field.Line < 2 || field.Line > last {
			t.Fatalf("field %+v", field)
		}
		if data := field.Value.JSON(); !json.Valid(data) {
			t.Fatalf("%q is no JSON", data)
		}
		_ = field.Value.String()
	}
}

func checkHeadings(t *testing.T, doc *notes.Doc) {
	t.Helper()
	at, line := doc.Body, 0
	for _, h := range doc.Headings {
		if h.Start < at || h.TextStart < h.Start || h.TextEnd < h.TextStart || h.End < h.TextEnd || h.End > len(doc.Text) {
			t.Fatalf("spans of %+v, behind %d", h, at)
		}
		if h.Level < 1 || h.Level > 6 || h.Line <= line || h.Line != 1+strings.Count(doc.Text[:h.Start], "\n") {
			t.Fatalf("line and level of %+v", h)
		}
		at, line = h.End, h.Line
	}
}

func FuzzLinks(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed)
	}
	paths := newTree("a.md", "b/a.md", "x y.md", "b/img.png", "c")
	f.Fuzz(func(t *testing.T, text string) {
		start := 0
		for _, l := range notes.Parse(text).Links() {
			if l.Start < start {
				t.Fatalf("%+v starts before the link before it", l)
			}
			start = l.Start
			checkLink(t, text, l)
			if got, ok := notes.Resolve("b/src.md", l, paths); ok && !l.Self() && !paths.Has(got) {
				t.Fatalf("%+v means %q, which is not there", l, got)
			}
		}
		for _, l := range append(notes.ScanCanvas(text), notes.ScanBase(text)...) {
			checkLink(t, text, l)
		}
	})
}

func checkLink(t *testing.T, text string, l notes.Link) {
	t.Helper()
	if l.Start < 0 || l.DestStart < l.Start || l.PathEnd < l.DestStart || l.DestEnd < l.PathEnd || l.End < l.DestEnd || l.End > len(text) {
		t.Fatalf("spans of %+v in %q", l, text)
	}
	if l.Line != 1+strings.Count(text[:l.Start], "\n") {
		t.Fatalf("line of %+v", l)
	}
	if l.Quote == 0 && l.Dest != text[l.DestStart:l.DestEnd] {
		t.Fatalf("destination of %+v is %q", l, text[l.DestStart:l.DestEnd])
	}
	if l.Target == "" && l.Sub == "" && l.Dest == "" {
		t.Fatalf("%+v names nothing", l)
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range fuzzSeeds {
		f.Add(seed, "a")
	}
	f.Add("xx Cafe\u0301 yy", "É")
	f.Fuzz(func(t *testing.T, text, query string) {
		folded := notes.Fold(text)
		if strings.Count(folded, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q folds to %q", text, folded)
		}
		if utf8.ValidString(text) != utf8.ValidString(folded) {
			t.Fatalf("%q folds to %q, which is another kind of text", text, folded)
		}
		if manyMarks(text) {
			return // normalisation itself breaks such runs up
		}
		if other := notes.Fold(norm.NFD.String(text)); other != folded {
			t.Fatalf("%q folds to %q, decomposed to %q", text, folded, other)
		}
		want := strings.Contains(folded, notes.Fold(query))
		if got := notes.Contains(text, notes.Fold(query)); got != want {
			t.Fatalf("Contains(%q, %q) = %v", text, query, got)
		}
		start, end, ok := notes.FindFold(text, query, false)
		if ok != want || ok && (start < 0 || end < start || end > len(text)) {
			t.Fatalf("FindFold(%q, %q) = %d, %d, %v", text, query, start, end, ok)
		}
		if ok && !strings.Contains(notes.Fold(text[start:end]), notes.Fold(query)) {
			t.Fatalf("FindFold(%q, %q) found %q", text, query, text[start:end])
		}
	})
}

// manyMarks reports whether text holds a run of combining marks so long that
// normalisation inserts a joiner (UAX 15, stream-safe format).
func manyMarks(text string) bool {
	run := 0
	for _, r := range norm.NFD.String(text) {
		if norm.NFD.PropertiesString(string(r)).CCC() == 0 {
			run = 0
		} else if run++; run > 20 {
			return true
		}
	}
	return strings.ContainsRune(text, 0x34F)
}
