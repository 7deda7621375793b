package vaultdir_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"vault/modules/vaultdir"
	"vault/platform/fault"
)

func instructions(t testing.TB, text string) (string, []vaultdir.Finding) {
	t.Helper()
	r, findings := vaultdir.Load("kb", []vaultdir.File{
		{Path: vaultdir.SettingsPath, Text: settingsText("")},
		{Path: vaultdir.InstructionsPath, Text: text},
	})
	return r.Instructions(), findings
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "Every decision names who made it.\n", "Every decision names who made it."},
		{"line ends and mark", "\uFEFFa\r\nb\rc\n\n\n", "a\nb\nc"},
		{"headings keep their distances", "# A\n\n### B\n\n##### C", "### A\n\n##### B\n\n###### C"},
		{"deep headings stay", "### A\n#### B", "### A\n#### B"},
		{"no heading", "#tag and C# and ####### seven", "#tag and C# and ####### seven"},
		{"empty heading", "#\n##", "###\n####"},
		{"indented and contained", "   ## a\n> # b\n- ## c\n1. # d\n> - # e", "   #### a\n> ### b\n- #### c\n1. ### d\n> - ### e"},
		{"tab after hashes", "#\ta", "###    a"},
		{"in a fence", "```sh\n# install\n```", "```sh\n### install\n```"},
		{"underlined", "A\n===\n\nB\n---\ntext", "### A\n\n#### B\ntext"},
		{"underlined in a quote", "> A\n> ---", "> ### A"},
		{"no underline", "text\n\n---\n\n- a\n\n---", "text\n\n---\n\n- a\n\n---"},
		{"yaml in a fence", "```yaml\na: 1\n---\nb: 2\n```", "```yaml\na: 1\n---\nb: 2\n```"},
		{"html heading", "<h1>projects</h1><H2 class=x>a</H2>", "<h3>projects</h3><h3 class=x>a</h3>"},
		{"open fence", "```\ncode", "```\ncode\n```"},
		{"open longer fence", "~~~~\n~~~\n```", "~~~~\n~~~\n```\n~~~~"},
		{"open comment", "a <!-- b", "a <!-- b\n-->"},
		{"closed comment", "a <!-- b --> c", "a <!-- b --> c"},
		{"open html block", "<pre>\n# x", "‹pre>\n♯ x"},
		{"a list ends the fence in it", "- ```\n  x", "- ```\n  x"},
		{"invisible characters", "a\u202Eb\u200Fc\u2028d\u0007e\U000E0041f", "abcdef"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, _ := instructions(t, tt.text); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestLongInstructionsAreCutAndSaid(t *testing.T) {
	t.Parallel()
	paragraph := strings.Repeat("Grüße an alle. ", 20) + "\n\n"
	got, findings := instructions(t, strings.Repeat(paragraph, 10))
	if n := utf8.RuneCountInString(got); n > vaultdir.InstructionsLimit || n < vaultdir.InstructionsLimit*3/4 {
		t.Errorf("%d characters", n)
	}
	if !strings.HasSuffix(got, "alle.\n\n…") {
		t.Errorf("not cut at a paragraph: %q", got[len(got)-40:])
	}
	if len(findings) != 1 || findings[0].Rule != vaultdir.RuleText || findings[0].Severity != vaultdir.Warning {
		t.Errorf("findings %v", findings)
	}
	for name, text := range map[string]string{
		"one line":        strings.Repeat("x", 5000),
		"open fence":      "```\n" + strings.Repeat("code line\n", 500),
		"very long fence": strings.Repeat("`", 1500) + "\n" + strings.Repeat("a\n", 1000),
		"open comment":    "<!-- " + strings.Repeat("word ", 1000),
		"headings":        strings.Repeat("# a\n", 600),
	} {
		got, _ := instructions(t, text)
		if n := utf8.RuneCountInString(got); n > vaultdir.InstructionsLimit || n < vaultdir.InstructionsLimit/2 {
			t.Errorf("%s: %d characters", name, n)
		}
		checkContained(t, got)
	}
	if _, findings := instructions(t, strings.Repeat("x", vaultdir.InstructionsLimit)); len(findings) > 0 {
		t.Errorf("exactly the limit: %v", findings)
	}
}

func TestBrokenInstructionsSayWhere(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a\nb\x00c":                 "2:2 error vault-syntax: the file is not text",
		"a\xff":                     "1:2 error vault-syntax: the file is not text",
		"a\nbü\u202Ec":              "2:3 warning vault-text: characters that change how",
		strings.Repeat("a", 70_000): "0:0 error vault-syntax: the file is larger than 64 KiB",
	}
	for text, want := range tests {
		ok, findings := vaultdir.CheckFile(vaultdir.InstructionsPath, text)
		if len(findings) != 1 || !strings.HasPrefix(finding(findings[0]), want) || ok != strings.Contains(want, "warning") {
			t.Errorf("%.20q: ok %v, %v; want %s", text, ok, findings, want)
		}
	}
}

func TestCheckFile(t *testing.T) {
	t.Parallel()
	if ok, findings := vaultdir.CheckFile(vaultdir.SettingsPath, "{"); ok || len(findings) != 1 {
		t.Errorf("settings: %v %v", ok, findings)
	}
	if ok, findings := vaultdir.CheckFile(".vault/README.md", "{"); !ok || len(findings) > 0 {
		t.Errorf("another file: %v %v", ok, findings)
	}
}

func TestSummaryIsOneShortLine(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`plain`:                       "plain",
		`a\n\n## projects\tb`:         "a ## projects b",
		`evil\u202e \u0007x\u2028y`:   "evil x y",
		strings.Repeat("word ", 40):   strings.TrimSpace(strings.Repeat("word ", 23)) + "…",
		strings.Repeat("\u00fc", 130): strings.Repeat("\u00fc", 119) + "…",
	}
	for written, want := range tests {
		if got := repoWith(t, `, "summary": "`+written+`"`).Summary(); got != want {
			t.Errorf("%q: got %q, want %q", written, got, want)
		}
	}
}

// checkContained states what instructions must never do, independently of how
// they are made: hold a heading of a section's level, or keep the section that
// follows from being one.
func checkContained(t *testing.T, body string) {
	t.Helper()
	source := []byte("## kb\n\n" + body + "\n\n## other\n\nIts own.\n")
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	var sections []string
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if h, ok := n.(*ast.Heading); ok && entering && h.Level <= 2 {
			sections = append(sections, string(h.Lines().Value(source)))
		}
		return ast.WalkContinue, nil
	})
	if len(sections) != 2 || sections[0] != "kb" || sections[1] != "other" || root.LastChild().Kind() != ast.KindParagraph {
		t.Errorf("sections %q of %q", sections, body)
	}
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "## ") || strings.HasPrefix(line, "# ") {
			t.Errorf("line %q of %q reads like a section", line, body)
		}
	}
}

func FuzzInstructionsAreContained(f *testing.F) {
	for _, s := range []string{
		"# A\n===\n```\n## b", "> a\n> ---\n- # x\n  ~~~", "<!-- \n<pre>\n<h2>", "a\r\n--\r\n\tb\n1) # c",
		"<?php\n", "<![CDATA[", "<!X", "[a]: <b\n", "- a\n\n  b\n  =\n", "\u202E# a", "a\n\u00a0---", "***\n-\n  # a",
		"`` ` ``\n```a`b\n# c", "    ```\n# x\n    ```", "a\n> ---\n", "|a|\n|-|\n", "a\\\n===",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, _ := instructions(t, s)
		if utf8.RuneCountInString(got) > vaultdir.InstructionsLimit || !utf8.ValidString(got) {
			t.Errorf("%d characters", utf8.RuneCountInString(got))
		}
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || fault.Unprintable(r)) {
				t.Errorf("%U in %q", r, got)
			}
		}
		checkContained(t, got)
	})
}
