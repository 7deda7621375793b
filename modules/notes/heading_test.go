package notes_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/notes"
)

func outline(doc *notes.Doc) []string {
	var out []string
	for _, h := range doc.Headings {
		out = append(out, fmt.Sprintf("%d %s %s", h.Line, strings.Repeat("#", h.Level), h.Text))
	}
	return out
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"levels", "# A\n###### F\n####### no\n#no\n", []string{"1 # A", "2 ###### F"}},
		{"indent", "   # A\n    # code\n", []string{"1 # A"}},
		{"sharp stays", "## C#\n## F# \n", []string{"1 ## C#", "2 ## F#"}},
		{"closing hashes go", "## A ##\n## B #####  \n## C ## d\n", []string{"1 ## A", "2 ## B", "3 ## C ## d"}},
		{"escaped closing hash", "## A \\##\n## B #\\##\n", []string{"1 ## A ##", "2 ## B ###"}},
		{"empty", "#\n##  \n### ###\n", []string{"1 # ", "2 ## ", "3 ### "}},
		{"setext", "A\n===\nB\n---\n", []string{"1 # A", "3 ## B"}},
		{"setext over lines", "A\nB\n===\n", []string{"1 # A B"}},
		{"no setext after blank", "A\n\n---\n", nil},
		{"dashes after list are a rule", "- a\n---\n", nil},
		{"fence", "```\n# no\n```\n# A\n", []string{"4 # A"}},
		{"tildes do not close backticks", "```\n~~~\n# no\n```\n# A\n", []string{"5 # A"}},
		{"shorter fence does not close", "````\n```\n# no\n````\n# A\n", []string{"5 # A"}},
		{"unclosed fence", "# A\n```\n# no\n", []string{"1 # A"}},
		{"backtick in the info string is no fence", "``` a`b\n# A\n", []string{"2 # A"}},
		{"indented code", "x\n\n    # no\n", nil},
		{"html comment", "<!--\n# no\n\n# no\n-->\n# A\n", []string{"6 # A"}},
		{"html block", "<div>\n# no\n</div>\n\n# A\n", []string{"5 # A"}},
		{"obsidian comment", "%%\n# no\n\n# no\n%%\n# A\n", []string{"6 # A"}},
		{"obsidian comment that starts with text", "%% x\n# no\ny %%\n# A\n", []string{"4 # A"}},
		{"obsidian comment on a line", "%% x %%\n# A\n", []string{"2 # A"}},
		{"obsidian comment without end", "# A\n%%\n# B\n", []string{"1 # A", "3 # B"}},
		{"frontmatter", "---\n# no\na: 1\n---\n# A\n", []string{"5 # A"}},
		{"broken frontmatter", "---\na: [\n# no\n---\n# A\n", []string{"5 # A"}},
		{"quote", "> # A\n> text\n", []string{"1 # A"}},
		{"list", "- # A\n\n  ## B\n", []string{"1 # A", "3 ## B"}},
		{"fence in a list", "- ```\n  # no\n  ```\n# A\n", []string{"4 # A"}},
		{"fence ends with its quote", "> ```\n> # no\n# A\n", []string{"3 # A"}},
		{"crlf", "# A\r\n\r\nB\r\n===\r\n", []string{"1 # A", "3 # B"}},
		{"bom", "\uFEFF# A\n", []string{"1 # A"}},
		{"definition is no heading", "[a]: b\n===\nx\n", nil},
		{"after a definition", "[a]: b\nT\n===\n", []string{"2 # T"}},
		{"no newline at the end", "# A", []string{"1 # A"}},
		{"after text without a blank line", "text\n# A\n", []string{"2 # A"}},
		{"tab", "#\tA\n", []string{"1 # A"}},
		{"tab in a quote", ">\t# \n>\t## A\n>\t### ###", []string{"1 # ", "2 ## A", "3 ### "}},
		{"dashes below a table", "| a | b |\n|---|---|\n| 1 | 2 |\n---\n", nil},
		{"footnote", "[^1]: x\n\n# A\n", []string{"3 # A"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, outline(notes.Parse(test.text))); diff != "" {
				t.Errorf("headings of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

func TestHeadingText(t *testing.T) {
	t.Parallel()
	tests := []struct{ source, want string }{
		{"Plain", "Plain"},
		{"*a* **b** _c_ ***d***", "a b c d"},
		{"snake_case 2 * 3 * 4", "snake_case 2 * 3 * 4"},
		{"`code *x*` and ``a`b``", "code *x* and a`b"},
		{"~~old~~ new", "old new"},
		{"[label](x.md) [`c`](<a b> \"t\")", "label c"},
		{"[ref] and [no ref] and [x][ref]", "ref and [no ref] and x"},
		{"![alt *x*](i.png)", "alt x"},
		{"[[Target#Sub]] and [[Target|Label]]", "Target#Sub and Label"},
		{"![[img.png|100]]", "100"},
		{"\\*a\\* \\# &amp; &#65; &nope;", "*a* # & A &nope;"},
		{"a<br>b <b>c</b> <!-- d -->e", "ab c e"},
		{"<https://x.org/a>", "https://x.org/a"},
		{"x < y > z", "x < y > z"},
		{"3. Timeline", "3. Timeline"},
		{"a\\", "a\\"},
		{"ends ^block", "ends ^block"},
		{"🎉 Über", "🎉 Über"},
	}
	for _, test := range tests {
		doc := notes.Parse("[ref]: x\n\n# " + test.source + "\n")
		if len(doc.Headings) != 1 || doc.Headings[0].Text != test.want {
			t.Errorf("%q: %v, want %q", test.source, doc.Headings, test.want)
		}
	}
}

func TestHeadingSpans(t *testing.T) {
	t.Parallel()
	text := "\uFEFF---\na: 1\n---\n> ## A *b* ##\n\ntext\nTitle  \nmore\n===\n##\nend"
	want := [][2]string{
		{"## A *b* ##\n", "A *b*"},
		{"text\nTitle  \nmore\n===\n", "text\nTitle  \nmore"},
		{"##\n", ""},
	}
	var got [][2]string
	for _, h := range notes.Parse(text).Headings {
		got = append(got, [2]string{text[h.Start:h.End], text[h.TextStart:h.TextEnd]})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
}
