package notes_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/notes"
)

// show writes a link as one short line: form, place, the destination as it
// stands in the file, what it means, and its label.
func show(text string, l notes.Link) string {
	var b strings.Builder
	b.WriteString(string(l.Form))
	if l.Place != "" {
		b.WriteString("/" + string(l.Place))
	}
	if l.Embed {
		b.WriteString(" !")
	}
	b.WriteString(" {" + text[l.DestStart:l.DestEnd] + "} " + l.Target)
	if l.Sub != "" {
		b.WriteString(" #" + l.Sub)
	}
	if l.Label != "" {
		b.WriteString(" |" + l.Label)
	}
	return b.String()
}

func shown(text string) []string {
	var out []string
	for _, l := range notes.Parse(text).Links() {
		out = append(out, show(text, l))
	}
	return out
}

// linkForm is a text and the links in it, as show writes them.
type linkForm struct {
	name, text string
	want       []string
}

var wikilinkForms = []linkForm{
	{"bare", "see [[Apollo]].", []string{"wiki {Apollo} Apollo"}},
	{"path", "[[plans/Apollo.md]]", []string{"wiki {plans/Apollo.md} plans/Apollo.md"}},
	{"display", "[[Apollo|the plan]]", []string{"wiki {Apollo} Apollo |the plan"}},
	{"second pipe", "[[a|b|c]]", []string{"wiki {a} a |b|c"}},
	{"heading chain", "[[Apollo#Risks#Q2]]", []string{"wiki {Apollo#Risks#Q2} Apollo #Risks#Q2"}},
	{"block", "[[Apollo#^a1]]", []string{"wiki {Apollo#^a1} Apollo #^a1"}},
	{"own heading", "[[#H]]", []string{"wiki {#H}  #H"}},
	{"embed", "![[img.png|300x200]]", []string{"wiki ! {img.png} img.png |300x200"}},
	{"blanks", "[[ Apollo |x]]", []string{"wiki {Apollo} Apollo |x"}},
	{"one bracket inside", "[[a]b]]", []string{"wiki {a]b} a]b"}},
	{"over lines", "[[a\nb]]", nil},
	{"nested", "[[a [[b]] c]]", []string{"wiki {b} b"}},
	{"three brackets", "[[[a]]]", []string{"wiki {a} a"}},
	{"empty", "[[]] [[ ]] [[|x]] [[#]]", nil},
	{"not decoded", "[[a%20b]]", []string{"wiki {a%20b} a%20b"}},
	{"escaped", "\\[[Apollo]]", nil},
	{"escaped inside", "\\![[Apollo]]", []string{"wiki {Apollo} Apollo"}},
	{"two on a line", "[[a]] [[b]]", []string{"wiki {a} a", "wiki {b} b"}},
	{"escaped pipe in a table", "| h | i |\n|---|---|\n| [[a\\|b]] | c |\n", []string{"wiki {a} a |b"}},
	{"bare pipe in a table", "| h | i |\n|---|---|\n| [[a|b]] | c |\n", []string{"wiki {a} a |b"}},
	{"unescaped bracket before", "[x [[a]]", []string{"wiki {a} a"}},
}

var markdownForms = []linkForm{
	{"link", "[t](a/b.md)", []string{"markdown {a/b.md} a/b.md |t"}},
	{"image", "![t](a.png)", []string{"markdown ! {a.png} a.png |t"}},
	{"encoded", "[t](my%20note.md)", []string{"markdown {my%20note.md} my note.md |t"}},
	{"encoded once", "[t](a%2520b.md)", []string{"markdown {a%2520b.md} a%20b.md |t"}},
	{"not an encoding", "[t](100%.md)", []string{"markdown {100%.md} 100%.md |t"}},
	{"bad encoding", "[t](a%ff.md)", []string{"markdown {a%ff.md} a%ff.md |t"}},
	{"plus", "[t](a+b.md)", []string{"markdown {a+b.md} a+b.md |t"}},
	{"encoded hash", "[t](C%23.md#x)", []string{"markdown {C%23.md#x} C#.md #x |t"}},
	{"raw space", "[t](my note.md)", nil},
	{"angle", "[t](<my note.md>)", []string{"markdown {my note.md} my note.md |t"}},
	{"angle with bracket", "[t](<a)b.md#c d>)", []string{"markdown {a)b.md#c d} a)b.md #c d |t"}},
	{"angle with line break", "[t](<a\nb>)", nil},
	{"title", "[t](a.md \"x\") [t](b.md 'y') [t](c.md (z))", []string{"markdown {a.md} a.md |t", "markdown {b.md} b.md |t", "markdown {c.md} c.md |t"}},
	{"title on the next line", "[t](a.md\n\"x\")", []string{"markdown {a.md} a.md |t"}},
	{"trash behind", "[t](a.md x)", nil},
	{"balanced", "[t](a(b)c.md)", []string{"markdown {a(b)c.md} a(b)c.md |t"}},
	{"escaped paren", "[t](a\\(b.md)", []string{"markdown {a\\(b.md} a(b.md |t"}},
	{"entity", "[t](a&amp;b.md)", []string{"markdown {a&amp;b.md} a&b.md |t"}},
	{"fragment", "[t](a.md#My%20Head)", []string{"markdown {a.md#My%20Head} a.md #My Head |t"}},
	{"own fragment", "[t](#h)", []string{"markdown {#h}  #h |t"}},
	{"query", "[t](a.md?raw=1#h)", []string{"markdown {a.md?raw=1#h} a.md #h |t"}},
	{"empty destination", "[t]() [t](<>)", nil},
	{"spaces inside", "[t](  a.md  )", []string{"markdown {a.md} a.md |t"}},
	{"label over lines", "[a\nb](c.md)", []string{"markdown {c.md} c.md |a\nb"}},
	{"label with brackets", "[a [b] c](d.md)", []string{"markdown {d.md} d.md |a [b] c"}},
	{"inner link wins", "[a [b](c.md) d](e.md)", []string{"markdown {c.md} c.md |b"}},
	{"image in a link", "[![i](a.png)](../x.md)", []string{"markdown {../x.md} ../x.md |![i](a.png)", "markdown ! {a.png} a.png |i"}},
	{"link in an image", "![a [b](c.md)](d.png)", []string{"markdown ! {d.png} d.png |a [b](c.md)", "markdown {c.md} c.md |b"}},
	{"wikilink in a label", "[a [[b]] c](d.md)", []string{"markdown {d.md} d.md |a [[b]] c", "wiki {b} b"}},
	{"wikilink as a label", "[[1]](d.md)", []string{"markdown {d.md} d.md |[1]", "wiki {1} 1"}},
	{"escaped bracket", "\\[t](a.md) [t\\](b.md)", nil},
	{"external", "[t](https://e.org/a.md) [[https://x]] <https://e.org/[a](b)>", []string{"markdown {https://e.org/a.md} https://e.org/a.md |t", "wiki {https://x} https://x"}},
	{"after a link", "[a](b) [c](d)", []string{"markdown {b} b |a", "markdown {d} d |c"}},
	{"emphasis around", "**[a](b)** ~~[[c]]~~", []string{"markdown {b} b |a", "wiki {c} c"}},
}

var definitionForms = []linkForm{
	{"definition", "[t][r] [r][] [r]\n\n[r]: a.md \"x\"\n", []string{"definition {a.md} a.md |r"}},
	{"angle definition", "   [r]: <a b.md> 'x'", []string{"definition {a b.md} a b.md |r"}},
	{"definition over lines", "[r]:\na.md\n'x'\n", []string{"definition {a.md} a.md |r"}},
	{"two definitions", "[r]: a.md\n[s]: b.md\ntext [[c]]\n", []string{"definition {a.md} a.md |r", "definition {b.md} b.md |s", "wiki {c} c"}},
	{"title on the next line that is none", "[r]: a.md\n\"x\" y\n", []string{"definition {a.md} a.md |r"}},
	{"trash behind a definition", "[r]: a.md x\n", nil},
	{"not inside a paragraph", "text\n[r]: a.md\n", nil},
	{"definition in a quote", "> [r]: a.md\n", []string{"definition {a.md} a.md |r"}},
	{"definition in a list", "- [r]: a.md\n", []string{"definition {a.md} a.md |r"}},
	{"footnote is no definition", "[^1]: see [[Apollo]]\n", []string{"wiki {Apollo} Apollo"}},
	{"footnote body", "[^1]: x\n\n    see [[Apollo]]\n", []string{"wiki {Apollo} Apollo"}},
	{"definition without a target", "[r]: \n", nil},
	{"reference inside a link", "[a [r] b](c.md)\n\n[r]: d.md\n", []string{"definition {d.md} d.md |r"}},
	{"definition in code", "    [r]: a.md\n", nil},
}

var htmlForms = []linkForm{
	{"anchor", "<a href=\"a.md#x\">t</a>", []string{"html {a.md#x} a.md #x"}},
	{"single quotes and none", "<img src='a b.png' width=9> <img src=b.png>", []string{"html ! {a b.png} a b.png", "html ! {b.png} b.png"}},
	{"block", "<p>\n<a HREF = \"a&amp;b.md\">t</a> [[no]]\n</p>\n", []string{"html {a&amp;b.md} a&b.md"}},
	{"video", "<video src=\"v.mp4\" poster=\"p.png\"></video>", []string{"html ! {v.mp4} v.mp4", "html ! {p.png} p.png"}},
	{"Markdown between tags", "<b>[[a]]</b>", []string{"wiki {a} a"}},
	{"no tag", "<a href=a.md", nil},
	{"other attribute", "<a title=\"[[x]]\" data-href='y'>", nil},
	{"backslash stays", "<a href=\"a\\(b.md\">", []string{"html {a\\(b.md} a\\(b.md"}},
	{"script", "<script>\nif (a<b) { x = '<a href=\"no.md\">' }\n</script>\n", nil},
	{"html comment block", "<!--\n[[a]] [t](b.md)\n\n[[c]]\n-->\n[[d]]", []string{"wiki/comment {a} a", "markdown/comment {b.md} b.md |t", "wiki/comment {c} c", "wiki {d} d"}},
	{"html comment in text", "x <!-- [[a]] --> [[b]]", []string{"wiki/comment {a} a", "wiki {b} b"}},
	{"unclosed comment in text", "x <!-- [[a]]", []string{"wiki {a} a"}},
}

var hiddenForms = []linkForm{
	{"code", "`[[a]]` ``[b](c)`` [[d]]", []string{"wiki {d} d"}},
	{"code over lines", "`[[a]]\n[[b]]` [[c]]", []string{"wiki {c} c"}},
	{"code unclosed", "`[[a]]", []string{"wiki {a} a"}},
	{"code ends with its paragraph", "`[[a]]\n\n[[b]]`", []string{"wiki {a} a", "wiki {b} b"}},
	{"no escape in code", "`a\\` [[b]] `c`", []string{"wiki {b} b"}},
	{"code before a bracket", "[a `](b.md)` c](d.md)", []string{"markdown {d.md} d.md |a `](b.md)` c"}},
	{"fence", "```\n[[a]]\n```\n[[b]]", []string{"wiki {b} b"}},
	{"tilde fence", "~~~md\n[[a]]\n```\n~~~\n[[b]]", []string{"wiki {b} b"}},
	{"fence in a quote", "> ```\n> [[a]]\n> ```\n> [[b]]", []string{"wiki {b} b"}},
	{"indented code", "x\n\n    [[a]]\n\n[[b]]", []string{"wiki {b} b"}},
	{"indented, but a paragraph", "x\n    [[a]]", []string{"wiki {a} a"}},
	{"list paragraph", "- x\n\n  [[a]]\n\n      [[code]]\n", []string{"wiki {a} a"}},
	{"math", "$[[a]]$ and $$[b](c)$$ [[d]]", []string{"wiki {d} d"}},
	{"math block", "$$\n[[1, 2]](x)\n$$\n[[d]]", []string{"wiki {d} d"}},
	{"money", "costs $5, see [[a]], or $6 and [[b]]", []string{"wiki {a} a", "wiki {b} b"}},
	{"obsidian comment", "%% [[a]] %%\n\n%%\n[[b]]\n\n# [[c]]\n%%\n", []string{"wiki {a} a", "wiki {b} b", "wiki {c} c"}},
}

var placeForms = []linkForm{
	{"heading", "# [[a]] [t](b.md)\n", []string{"wiki {a} a", "markdown {b.md} b.md |t"}},
	{"setext heading", "[[a]]\n===\n", []string{"wiki {a} a"}},
	{"callout", "> [!note] see [[Apollo]]\n> and [[b]]", []string{"wiki {Apollo} Apollo", "wiki {b} b"}},
	{"quote over lines", "> [a\n> b](c.md)", []string{"markdown {c.md} c.md |a\nb"}},
	{"task", "- [ ] do [[a]]\n- [x] [t](b.md)\n", []string{"wiki {a} a", "markdown {b.md} b.md |t"}},
	{"code in a table stays in its cell", "| a | b |\n|---|---|\n| ` | [[x]] ` |\n", []string{"wiki {x} x"}},
	{"rows are apart", "| a |\n|---|\n| ` [[x]] |\n| ` [[y]] |\n", []string{"wiki {x} x", "wiki {y} y"}},
	{"text before a table", "t [[a]]\n| b | c |\n|---|---|\n| [[d]] | [e](f) |\n", []string{"wiki {a} a", "wiki {d} d", "markdown {f} f |e"}},
	{"crlf", "[[a]]\r\n[t](b.md)\r\n\r\n[r]: c.md\r\n", []string{"wiki {a} a", "markdown {b.md} b.md |t", "definition {c.md} c.md |r"}},
	{"inline footnote", "x^[see [[a]]]", []string{"wiki {a} a"}},
}

var frontForms = []linkForm{
	{"front quoted", "---\nup: \"[[Apollo]]\"\n---\n", []string{"wiki/front {Apollo} Apollo"}},
	{"front list", "---\nl:\n  - '[[plans/Apollo|P]]'\n  - [[b]]\n---\n", []string{"wiki/front {plans/Apollo} plans/Apollo |P", "wiki/front {b} b"}},
	{"front single quote", "---\nup: 'x [[Tom''s plan]] ''y'''\n---\n", []string{"wiki/front {Tom''s plan} Tom's plan"}},
	{"front escapes", "---\nup: \"\\\"x\\\" [[a\\\\|b]] [[\\u00e4]]\"\n---\n", []string{"wiki/front {a} a |b", "wiki/front {\\u00e4} ä"}},
	{"front nested value", "---\na:\n  b: {c: \"[[d]]\"}\n---\n", []string{"wiki/front {d} d"}},
	{"front Markdown", "---\nsrc: \"[P](../plans/Apollo.md)\"\n---\n", []string{"markdown/front {../plans/Apollo.md} ../plans/Apollo.md |P"}},
	{"front unquoted", "---\nup: [[Apollo#Risks]]\n---\n", []string{"wiki/front {Apollo#Risks} Apollo #Risks"}},
	{"front lists of lists", "---\nm: [[1, 2], [3, 4]]\nn: [[[a]], [[b]]]\n---\n", []string{"wiki/front {a} a", "wiki/front {b} b"}},
	{"front comment", "---\nup: x # [[no]]\n# [[no]]\n---\n", nil},
	{"front block", "---\nd: |\n  # [[a]]\n  [t](b.md)\nup: 1\n---\n", []string{"wiki/front {a} a", "markdown/front {b.md} b.md |t"}},
	{"front plain path", "---\nfile: plans/Apollo.md\n---\n", nil},
	{"front over lines", "---\nd: \"x\n  [[a]] y\n  [[b]]\"\n---\n", []string{"wiki/front {a} a", "wiki/front {b} b"}},
	{"front broken", "---\nup: [[a]], \"[[b]]\"\nx: y: z\n---\n", []string{"wiki/front {a} a", "wiki/front {b} b"}},
	{"front tagged", "---\nup: !!str \"[[a]]\"\nx: &y '[[b]]'\n---\n", []string{"wiki/front {a} a", "wiki/front {b} b"}},
	{"front behind a bom", "\uFEFF---\nup: \"[[a]]\"\n---\n[[b]]", []string{"wiki/front {a} a", "wiki {b} b"}},
	{"front alias", "---\na: &x \"[[a]]\"\nb: *x\n---\n", []string{"wiki/front {a} a"}},
}

func TestLinkForms(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(wikilinkForms, markdownForms, definitionForms, htmlForms, hiddenForms, placeForms, frontForms) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, shown(test.text)); diff != "" {
				t.Errorf("links of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestLinkSpans(t *testing.T) {
	t.Parallel()
	text := "---\nup: '[[Tom''s#x|y]]'\n---\n> see ![[ a b#c |d]]\n> [t](<e f.md#g> \"h\")\n\n<img src=\"x.png?y#z\">\n\n[r]: /p.md 'q'\n"
	type spans struct {
		whole, dest, path string
		line              int
		angle             bool
		quote             string
	}
	want := []spans{
		{"[[Tom''s#x|y]]", "Tom''s#x", "Tom''s", 2, false, "'"},
		{"![[ a b#c |d]]", "a b#c", "a b", 4, false, ""},
		{"[t](<e f.md#g> \"h\")", "e f.md#g", "e f.md", 5, true, ""},
		{"<img src=\"x.png?y#z\">", "x.png?y#z", "x.png", 7, false, `"`},
		{"[r]: /p.md 'q'", "/p.md", "/p.md", 9, false, ""},
	}
	var got []spans
	for _, l := range notes.Parse(text).Links() {
		quote := ""
		if l.Quote != 0 {
			quote = string(l.Quote)
		}
		got = append(got, spans{text[l.Start:l.End], text[l.DestStart:l.DestEnd], text[l.DestStart:l.PathEnd], l.Line, l.Angle, quote})
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(spans{})); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}

func TestLinkKinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, key      string
		external, self bool
	}{
		{"[[Plans/Apollo.MD#x]]", "apollo", false, false},
		{"[[Cafe\u0301]]", "cafÉ", false, false},
		{"[[a%20b]]", "a b", false, false},
		{"[t](../plans/)", "plans", false, false},
		{"[t](..)", "..", false, false},
		{"[[#H]]", "", false, true},
		{"[t](#h)", "", false, true},
		{"[t](https://e.org/x.md)", "", true, false},
		{"[t](mailto:a@b.c)", "", true, false},
		{"[t](//host/x)", "", true, false},
		{"[t](C:\\x)", "c:\\x", false, false},
		{"[[https://x]]", "", true, false},
		{"[[Project: Apollo]]", "project: apollo", false, false},
		{"<img src=\"data:image/png;base64,x\">", "", true, false},
	}
	for _, test := range tests {
		links := notes.Parse(test.text).Links()
		if len(links) != 1 {
			t.Errorf("%q: %d links", test.text, len(links))
			continue
		}
		if l := links[0]; l.Key() != test.key || l.External() != test.external || l.Self() != test.self {
			t.Errorf("%q: key %q, external %v, self %v", test.text, l.Key(), l.External(), l.Self())
		}
	}
}

func TestScanCanvas(t *testing.T) {
	t.Parallel()
	text := "\uFEFF" + `{"edges":[{"file":"no.md"}],
 "nodes": [
  {"id":"1","type":"file","file":"plans\/\u00c4 b.md","subpath":"#x"},
  {"type":"text","text":"see [[Apollo|\"x\"]]\n\n- [t](a\\(b.md)\n","file":null},
  {"type":"group","label":"[[no]]","deep":{"file":"no.md"}},
  7, "x", []
 ]}`
	want := []string{
		`canvas/canvas ! {plans\/\u00c4 b.md} plans/Ä b.md`,
		`wiki/canvas {Apollo} Apollo |"x"`,
		`markdown/canvas {a\\(b.md} a(b.md |t`,
	}
	var got []string
	for _, l := range notes.ScanCanvas(text) {
		got = append(got, show(text, l))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "{", "[", "7", `{"nodes":[{"file":"a.md"}`, `{"nodes":{"file":"x"}}`, "\x00", `{"nodes":[{"file":"\ud800"}]}`} {
		notes.ScanCanvas(bad)
	}
	if got := notes.ScanCanvas(`{"nodes":[{"file":"a.md"},`); len(got) != 1 {
		t.Errorf("a broken canvas gives %v", got)
	}
}

func TestScanBase(t *testing.T) {
	t.Parallel()
	text := `filters:
  and:
    - file.inFolder("plans/2024")
    - 'file.hasLink("Apollo.md#x")'
    - "author == link(\"[[Tom|T]]\")"
    - file.folder != 'log/'
    - file.path == "a/b.md"
    - link("https://e.org") == x or mylink("no") or link(x) or link("")
    - file.inFolder("/")
`
	want := []string{
		`base/base {plans/2024} plans/2024/`,
		`base/base {Apollo.md#x} Apollo.md #x`,
		`base/base {Tom} Tom |T`,
		`base/base {log/} log/`,
		`base/base {a/b.md} a/b.md`,
		`base/base {https://e.org} https://e.org`,
	}
	var got []string
	links := notes.ScanBase(text)
	for _, l := range links {
		got = append(got, show(text, l))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("mentions (-want +got):\n%s", diff)
	}
	if !links[5].External() || links[0].External() || links[0].Line != 3 || links[0].Key() != "2024" {
		t.Errorf("mentions are %+v", links)
	}
}

// TestDocIsShared uses one Doc from several goroutines, for the race detector.
func TestDocIsShared(t *testing.T) {
	t.Parallel()
	doc := notes.Parse("---\nup: \"[[a]]\"\n---\n# [[b]]\n##\n<p href=c>\n\n%%\n[[d]]\n%%\n\n[r]: e\n\n- [f](g)\n")
	want := len(doc.Links())
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if got := len(doc.Links()); got != want || doc.Title("x.md") != "x" {
				t.Errorf("%d links, want %d", got, want)
			}
		})
	}
	group.Wait()
}
