package notes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/notes"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path      string
		note      bool
		base, key string
	}{
		{"a.md", true, "a", "a"},
		{"x/My Note.markdown", true, "My Note", "my note"},
		{"x/UP.MD", true, "UP", "up"},
		{"x/img.png", false, "img.png", "img.png"},
		{"v1.2.md", true, "v1.2", "v1.2"},
		{".md", false, ".md", ".md"},
		{"x/.md", false, ".md", ".md"},
		{"folder/sub/", false, "", "sub"},
		{"Cafe\u0301.md", true, "Cafe\u0301", "cafÉ"},
		{"CAFÉ.md", true, "CAFÉ", "cafÉ"},
		{"100%25.md", true, "100%25", "100%"},
		{"a%20b.md", true, "a%20b", "a b"},
		{"50%.md", true, "50%", "50%"},
		{"a.md.md", true, "a.md", "a.md"},
		{"", false, "", ""},
	}
	for _, test := range tests {
		if got := notes.IsNote(test.path); got != test.note {
			t.Errorf("IsNote(%q) = %v", test.path, got)
		}
		if got := notes.BaseName(test.path); got != test.base {
			t.Errorf("BaseName(%q) = %q, want %q", test.path, got, test.base)
		}
		if got := notes.Key(test.path); got != test.key {
			t.Errorf("Key(%q) = %q, want %q", test.path, got, test.key)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		lines []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\n\n", []string{"a", ""}},
		{"a\r\nb\r\n", []string{"a", "b"}},
		{"a\rb\n\r", []string{"a\rb", ""}},
		{"\uFEFFa\nb", []string{"\uFEFFa", "b"}},
	}
	for _, test := range tests {
		lines := notes.Parse(test.text).Lines()
		var got []string
		var whole strings.Builder
		for n := 1; n <= lines.Count(); n++ {
			got = append(got, lines.Line(n))
			whole.WriteString(lines.Slice(n, n))
			if at := lines.At(lines.Offset(n)); at != n {
				t.Errorf("%q: At(Offset(%d)) = %d", test.text, n, at)
			}
		}
		if diff := cmp.Diff(test.lines, got); diff != "" {
			t.Errorf("%q: lines (-want +got):\n%s", test.text, diff)
		}
		if whole.String() != test.text || lines.Slice(1, lines.Count()) != test.text {
			t.Errorf("%q: the lines do not give the text back: %q", test.text, whole.String())
		}
	}
}

func TestLinesOutside(t *testing.T) {
	t.Parallel()
	lines := notes.LinesOf("one\r\ntwo\nthree")
	if got := lines.Slice(2, 99); got != "two\nthree" {
		t.Errorf("Slice(2, 99) = %q", got)
	}
	if got := lines.Slice(-3, 1); got != "one\r\n" {
		t.Errorf("Slice(-3, 1) = %q", got)
	}
	if got := lines.Slice(3, 2) + lines.Slice(9, 9) + lines.Line(0) + lines.Line(4); got != "" {
		t.Errorf("lines that are none = %q", got)
	}
	if got := []int{lines.Offset(0), lines.Offset(2), lines.Offset(4), lines.At(0), lines.At(4), lines.At(5), lines.At(99)}; !cmp.Equal(got, []int{0, 5, 14, 1, 1, 2, 3}) {
		t.Errorf("offsets = %v", got)
	}
}

func TestFront(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		span       string // the text of the block, "-" for none
		keys       string
		errorLine  int
	}{
		{"none", "# A\n", "-", "", 0},
		{"plain", "---\na: 1\n---\nx", "---\na: 1\n---\n", "a", 0},
		{"empty", "---\n---\n", "---\n---\n", "", 0},
		{"comment only", "---\n# c\n\n---\n", "---\n# c\n\n---\n", "", 0},
		{"only fence at end of file", "---\na: 1\n---", "---\na: 1\n---", "a", 0},
		{"no close", "---\na: 1\n", "-", "", 0},
		{"blank line before", "\n---\na: 1\n---\n", "-", "", 0},
		{"indented open", " ---\na: 1\n---\n", "-", "", 0},
		{"indented close is text", "---\na: |\n  ---\n  x\n---\n", "---\na: |\n  ---\n  x\n---\n", "a", 0},
		{"blanks behind", "--- \na: 1\n---\t\nx", "--- \na: 1\n---\t\n", "a", 0},
		{"crlf", "---\r\na: 1\r\n---\r\nx", "---\r\na: 1\r\n---\r\n", "a", 0},
		{"bom", "\uFEFF---\na: 1\n---\nx", "---\na: 1\n---\n", "a", 0},
		{"four dashes", "----\na: 1\n----\n", "-", "", 0},
		{"dots do not close", "---\na: 1\n...\n---\n", "---\na: 1\n...\n---\n", "a", 0},
		{"three in a row", "---\na: 1\n---\n---\n", "---\na: 1\n---\n", "a", 0},
		{"duplicate", "---\na: 1\nb: 2\na: 3\n---\n", "---\na: 1\nb: 2\na: 3\n---\n", "", 4},
		{"duplicate by kind", "---\n1: a\n'1': b\n---\n", "---\n1: a\n'1': b\n---\n", "", 3},
		{"duplicate inside", "---\na:\n  b: 1\n  b: 2\n---\n", "---\na:\n  b: 1\n  b: 2\n---\n", "", 4},
		{"broken", "---\na: 1\nb: c: d\n---\n", "---\na: 1\nb: c: d\n---\n", "", 3},
		{"unclosed", "---\na: [1\n---\n", "---\na: [1\n---\n", "", 2},
		{"list", "---\n- a\n---\n", "---\n- a\n---\n", "", 2},
		{"text", "---\njust text\n---\n", "---\njust text\n---\n", "", 2},
		{"null", "---\n~\n---\n", "---\n~\n---\n", "", 0},
		{"flow map", "---\n{a: 1, b: 2}\n---\n", "---\n{a: 1, b: 2}\n---\n", "a b", 0},
		{"tab", "---\na: 1\n\tb: 2\n---\n", "---\na: 1\n\tb: 2\n---\n", "", 3},
		{"unknown alias", "---\na: *x\n---\n", "---\na: *x\n---\n", "", 2},
		{"complex key", "---\n? [a]\n: 1\n---\n", "---\n? [a]\n: 1\n---\n", "", 2},
		{"merge key is a key", "---\nx: &x {a: 1}\n<<: *x\n---\n", "---\nx: &x {a: 1}\n<<: *x\n---\n", "x <<", 0},
		{"control character", "---\na: \x01\n---\n", "---\na: \x01\n---\n", "", 2},
		{"second document", "---\na: 1\n...\nb: 2\n---\n", "---\na: 1\n...\nb: 2\n---\n", "", 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			doc := notes.Parse(test.text)
			span, keys := "-", []string{}
			if doc.Front != nil {
				span = test.text[doc.Front.Start:doc.Front.End]
				for _, field := range doc.Front.Fields {
					keys = append(keys, field.Key)
				}
			}
			line := 0
			if doc.FrontError != nil {
				line = doc.FrontError.Line
			}
			if span != test.span || strings.Join(keys, " ") != test.keys || line != test.errorLine {
				t.Errorf("block %q, keys %q, error line %d (%v)", span, keys, line, doc.FrontError)
			}
		})
	}
}

func TestFrontLimits(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c <= 'i'; c++ {
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+", ", 8) + "]\n"
	}
	tests := map[string]string{
		"aliases":     bomb,
		"own alias":   "a: &a [*a]\n",
		"map aliases": "a: &a {b: *a}\n",
		"depth":       "a: " + strings.Repeat("[", 33) + strings.Repeat("]", 33) + "\n",
		"deeper":      strings.Repeat("[", 60000) + "\n",
		"block depth": strings.Repeat("- ", 20000) + "\n",
		"nodes":       strings.Repeat("- a\n", 1001),
		"size":        "a: " + strings.Repeat("x", 64<<10) + "\n",
	}
	for name, inner := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc := notes.Parse("---\n" + inner + "---\n# H\n")
			if doc.FrontError == nil || len(doc.Front.Fields) != 0 || len(doc.Headings) != 1 {
				t.Errorf("error %v, headings %v", doc.FrontError, doc.Headings)
			}
		})
	}
	depth := "a: " + strings.Repeat("[", 30) + "1" + strings.Repeat("]", 30) + "\n"
	for _, inner := range []string{depth, "a: " + strings.Repeat("x", 60<<10) + "\n", "l: [" + strings.Repeat("1,", 990) + "]\n"} {
		if doc := notes.Parse("---\n" + inner + "---\n"); doc.FrontError != nil {
			t.Errorf("%.20q…: %v", inner, doc.FrontError)
		}
	}
}

// TestFrontErrorIsOneCleanLine holds what the note's own text may add to a
// sentence of ours to plain characters.
func TestFrontErrorIsOneCleanLine(t *testing.T) {
	t.Parallel()
	for _, inner := range []string{"\"a\\nb\": 1\n\"a\\nb\": 2\n", "a: *x\u202Ey\n", "a: *" + strings.Repeat("x", 999) + "\n", "\"\\u202E\": 1\n\"\\u202E\": 2\n"} {
		err := notes.Parse("---\n" + inner + "---\n").FrontError
		if err == nil || len(err.Msg) > 300 || strings.ContainsAny(err.Msg, "\n\u202E") {
			t.Errorf("%q: %+v", inner, err)
		}
	}
}

func TestValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		yaml, shown, json string
		kind              notes.Kind
	}{
		{"text", "text", `"text"`, notes.KindString},
		{"", "", "null", notes.KindNull},
		{"~", "", "null", notes.KindNull},
		{"Null", "", "null", notes.KindNull},
		{"''", "", `""`, notes.KindString},
		{"yes", "yes", `"yes"`, notes.KindString},
		{"on", "on", `"on"`, notes.KindString},
		{"True", "true", "true", notes.KindBool},
		{"false", "false", "false", notes.KindBool},
		{"'true'", "true", `"true"`, notes.KindString},
		{"12", "12", "12", notes.KindInt},
		{"007", "007", "7", notes.KindInt},
		{"+1", "+1", "1", notes.KindInt},
		{"-0", "-0", "-0", notes.KindInt},
		{"0o17", "0o17", "15", notes.KindInt},
		{"0xFf", "0xFf", "255", notes.KindInt},
		{"0b11", "0b11", `"0b11"`, notes.KindString},
		{"1_000", "1_000", `"1_000"`, notes.KindString},
		{"1:30", "1:30", `"1:30"`, notes.KindString},
		{"123456789012345678901234567890", "123456789012345678901234567890", "123456789012345678901234567890", notes.KindInt},
		{"1.50", "1.50", "1.50", notes.KindFloat},
		{"1.", "1.", "1", notes.KindFloat},
		{".5", ".5", "0.5", notes.KindFloat},
		{"-.5e3", "-.5e3", "-0.5e3", notes.KindFloat},
		{"1e3", "1e3", "1e3", notes.KindFloat},
		{".inf", ".inf", `".inf"`, notes.KindFloat},
		{".NaN", ".NaN", `".NaN"`, notes.KindFloat},
		{"2024-01-02", "2024-01-02", `"2024-01-02"`, notes.KindString},
		{"2024-01-02 10:00", "2024-01-02", `"2024-01-02 10:00"`, notes.KindString},
		{"2024-01-02T10:00:00+01:00", "2024-01-02", `"2024-01-02T10:00:00+01:00"`, notes.KindString},
		{"'2024-01-02T10:00:00.5Z'", "2024-01-02", `"2024-01-02T10:00:00.5Z"`, notes.KindString},
		{"2024-01-02 meeting", "2024-01-02 meeting", `"2024-01-02 meeting"`, notes.KindString},
		{"2024-01", "2024-01", `"2024-01"`, notes.KindString},
		{"[a, 1, true, ~, [b, c]]", "a, 1, true, b, c", `["a",1,true,null,["b","c"]]`, notes.KindList},
		{"[]", "", "[]", notes.KindList},
		{"[[Note]]", "Note", `[["Note"]]`, notes.KindList},
		{"{b: 1, a: [x]}", `{"b":1,"a":["x"]}`, `{"b":1,"a":["x"]}`, notes.KindMap},
		{"[{a: <b>}]", `{"a":"<b>"}`, `[{"a":"<b>"}]`, notes.KindList},
		{"!!str 1", "1", `"1"`, notes.KindString},
		{"!!int '3'", "3", "3", notes.KindInt},
		{"!!float 3", "3", "3", notes.KindFloat},
		{"!custom 3", "3", `"3"`, notes.KindString},
		{"|\n  a\n  b", "a\nb\n", `"a\nb\n"`, notes.KindString},
		{"\"a\\tb\"", "a\tb", `"a\tb"`, notes.KindString},
		{"&x [a]", "a", `["a"]`, notes.KindList},
	}
	for _, test := range tests {
		doc := notes.Parse("---\nv: " + test.yaml + "\n---\n")
		value, ok := doc.Front.Get("v")
		if !ok || doc.FrontError != nil {
			t.Errorf("%q: %v", test.yaml, doc.FrontError)
			continue
		}
		if value.Kind() != test.kind || value.String() != test.shown || string(value.JSON()) != test.json {
			t.Errorf("%q: kind %d, shown %q, JSON %s", test.yaml, value.Kind(), value.String(), value.JSON())
		}
	}
}

func TestFieldSpans(t *testing.T) {
	t.Parallel()
	text := "\uFEFF---\r\ntitle: Ä b\r\n\"ké\": 'v'\r\nlist:\r\n  - x # c\r\n  - y\r\nempty:\r\n# note\r\n---\r\nbody"
	doc := notes.Parse(text)
	var got []string
	for _, field := range doc.Front.Fields {
		got = append(got, text[field.KeyStart:field.ValueStart]+"|"+text[field.ValueStart:field.End])
	}
	want := []string{
		"title: |Ä b\r\n",
		"\"ké\": |'v'\r\n",
		"list:\r\n  |- x # c\r\n  - y\r\n",
		"empty:|\r\n# note\r\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if doc.Front.Fields[3].Line != 7 || text[doc.Body:] != "body" {
		t.Errorf("line %d, body %q", doc.Front.Fields[3].Line, text[doc.Body:])
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, path, want string }{
		{"# Heading\n", "a/My Note.md", "My Note"},
		{"---\ntitle: T\n---\n", "a.md", "T"},
		{"---\ntitle: ' '\n---\n", "a.md", "a"},
		{"---\ntitle:\n---\n", "a.markdown", "a"},
		{"---\ntitle: 2024\n---\n", "a.md", "2024"},
		{"---\ntitle: [\n---\n", "a.md", "a"},
		{"", "films.base", "films"},
		{"", "v1.2.md", "v1.2"},
		{"", ".hidden", ".hidden"},
	}
	for _, test := range tests {
		if got := notes.Parse(test.text).Title(test.path); got != test.want {
			t.Errorf("title of %q with %q = %q, want %q", test.path, test.text, got, test.want)
		}
	}
}
