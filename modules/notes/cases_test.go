package notes_test

import (
	"cmp"
	"slices"
	"testing"

	"vault/modules/notes"
)

// moveCase is a link before and after a move of plans/Apollo.md to
// done/Apollo 11.md, unless from and to say otherwise: the first text means the
// note before the move, the second after it.
type moveCase struct {
	name          string
	src           string // log/today.md unless it says otherwise
	before, after string
	from, to      string
	others        []string // other files
	srcAfter      string   // where the source is afterwards, if it moves
	target        string   // what is meant, if it is not the moved file
	targetAfter   string
}

var moveCases = []moveCase{
	{name: "bare", before: "[[Apollo]]", after: "[[Apollo 11]]"},
	{name: "only the folder changes", before: "[[Apollo]]", after: "[[Apollo]]", to: "done/Apollo.md"},
	{name: "path", before: "[[plans/Apollo]]", after: "[[done/Apollo 11]]"},
	{name: "ending", before: "[[plans/Apollo.md]]", after: "[[done/Apollo 11.md]]"},
	{name: "leading slash", before: "[[/plans/Apollo]]", after: "[[/done/Apollo 11]]"},
	{name: "relative wikilink", before: "[[../plans/Apollo]]", after: "[[../done/Apollo 11]]"},
	{name: "display", before: "[[plans/Apollo|Apollo]]", after: "[[done/Apollo 11|Apollo]]"},
	{name: "heading chain", before: "[[Apollo#Risks#Q2]]", after: "[[Apollo 11#Risks#Q2]]"},
	{name: "block", before: "[[Apollo#^a1]]", after: "[[Apollo 11#^a1]]"},
	{name: "embed", before: "![[Apollo#Risks]]", after: "![[Apollo 11#Risks]]"},
	{name: "table cell", before: "| a |\n|---|\n| [[Apollo\\|plan]] |", after: "| a |\n|---|\n| [[Apollo 11\\|plan]] |"},
	{name: "letter case", before: "[[apollo]]", after: "[[Apollo 11]]"},
	{name: "blanks", before: "[[ Apollo ]]", after: "[[ Apollo 11 ]]"},
	{name: "ambiguous, the moved one", src: "plans/x.md", before: "[[Index]]", after: "[[done/Index]]", from: "plans/Index.md", to: "done/Index.md", others: []string{"home/Index.md"}},
	{name: "ambiguous, the other one", src: "home/y.md", before: "[[Index]]", after: "[[Index]]", from: "plans/Index.md", to: "done/Index.md", others: []string{"home/Index.md"}, target: "home/Index.md", targetAfter: "home/Index.md"},
	{name: "new name collides", src: "log/z.md", before: "[[Index]]", after: "[[far/home/Index]]", to: "plans/Index.md", others: []string{"far/home/Index.md"}, target: "far/home/Index.md", targetAfter: "far/home/Index.md"},
	{name: "relative", before: "[p](../plans/Apollo.md)", after: "[p](../done/Apollo%2011.md)"},
	{name: "angle", before: "[p](<../plans/Apollo.md>)", after: "[p](<../done/Apollo 11.md>)"},
	{name: "title", before: "[p](../plans/Apollo.md \"Plan\")", after: "[p](../done/Apollo%2011.md \"Plan\")"},
	{name: "fragment", before: "[p](../plans/Apollo.md#risks)", after: "[p](../done/Apollo%2011.md#risks)"},
	{name: "without ending", before: "[p](../plans/Apollo)", after: "[p](../done/Apollo%2011)"},
	{name: "root slash", before: "[p](/plans/Apollo.md)", after: "[p](/done/Apollo%2011.md)"},
	{name: "vault path", before: "[p](plans/Apollo.md)", after: "[p](done/Apollo%2011.md)"},
	{name: "dot slash", src: "plans/n.md", before: "[p](./Apollo.md)", after: "[p](../done/Apollo%2011.md)"},
	{name: "parentheses", before: "[p](../plans/Apollo.md)", after: "[p](../done/Apollo%20(old).md)", to: "done/Apollo (old).md"},
	{name: "percent and hash", before: "[p](../plans/Apollo.md)", after: "[p](../done/50%25%20C%23.md)", to: "done/50% C#.md"},
	{name: "definition", before: "[ap]: ../plans/Apollo.md 'P'", after: "[ap]: ../done/Apollo%2011.md 'P'"},
	{name: "html", before: "<a href=\"../plans/Apollo.md#x\">", after: "<a href=\"../done/Apollo%2011.md#x\">"},
	{name: "html image", before: "<img src=\"../plans/a.png\" width=9>", after: "<img src=\"../done/a.png\" width=9>", from: "plans/a.png", to: "done/a.png"},
	{name: "front scalar", before: "---\nup: \"[[Apollo]]\"\n---\n", after: "---\nup: \"[[Apollo 11]]\"\n---\n"},
	{name: "front list", before: "---\nup:\n  - '[[plans/Apollo|P]]'\n---\n", after: "---\nup:\n  - '[[done/Apollo 11|P]]'\n---\n"},
	{name: "front quote", before: "---\nup: '[[Apollo]]'\n---\n", after: "---\nup: '[[Tom''s plan]]'\n---\n", to: "done/Tom's plan.md"},
	{name: "front Markdown", before: "---\nsrc: \"[P](../plans/Apollo.md)\"\n---\n", after: "---\nsrc: \"[P](../done/Apollo%2011.md)\"\n---\n"},
	{name: "front unquoted", before: "---\nup: [[Apollo]]\n---\n", after: "---\nup: [[Apollo 11]]\n---\n"},
	{name: "callout", before: "> [!note] see [[Apollo]]", after: "> [!note] see [[Apollo 11]]"},
	{name: "comment", before: "%% [[Apollo]] %%", after: "%% [[Apollo 11]] %%"},
	{name: "footnote", before: "[^1]: see [[Apollo]]", after: "[^1]: see [[Apollo 11]]"},
	{name: "own relative link", src: "plans/Apollo.md", srcAfter: "done/Apollo 11.md", before: "[a](x.md)", after: "[a](../plans/x.md)", others: []string{"plans/x.md"}, target: "plans/x.md", targetAfter: "plans/x.md"},
	{name: "own link up", src: "plans/Apollo.md", srcAfter: "done/Apollo 11.md", before: "[b](../log/today.md)", after: "[b](../log/today.md)", target: "log/today.md", targetAfter: "log/today.md"},
	{name: "own bare link", src: "plans/Apollo.md", srcAfter: "done/Apollo 11.md", before: "[[x]]", after: "[[plans/x]]", others: []string{"plans/x.md", "a/x.md"}, target: "plans/x.md", targetAfter: "plans/x.md"},
	{name: "own name", src: "plans/Apollo.md", srcAfter: "done/Apollo 11.md", before: "[[Apollo#Risks]]", after: "[[Apollo 11#Risks]]"},
	{name: "own heading", src: "plans/Apollo.md", srcAfter: "done/Apollo 11.md", before: "[[#Risks]]", after: "[[#Risks]]"},
	{name: "bare image", before: "![[p.png]]", after: "![[p.png]]", from: "plans/p.png", to: "done/p.png"},
	{name: "dots", before: "[[v1.2]]", after: "[[v1.3]]", from: "v1.2.md", to: "v1.3.md"},
	{name: "case-only", before: "[x](../plans/apollo.md)", after: "[x](../plans/Apollo.md)", from: "plans/apollo.md", to: "plans/Apollo.md"},
	{name: "decomposed", before: "[[Café]]", after: "[[Tee]]", from: "plans/Cafe\u0301.md", to: "plans/Tee.md"},
	{name: "crlf", before: "x\r\n[[Apollo]]\r\n", after: "x\r\n[[Apollo 11]]\r\n"},
	{name: "bom", before: "\uFEFF---\nup: \"[[Apollo]]\"\n---\n", after: "\uFEFF---\nup: \"[[Apollo 11]]\"\n---\n"},
}

func TestMoveCases(t *testing.T) {
	t.Parallel()
	for _, test := range moveCases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			from, to := cmp.Or(test.from, "plans/Apollo.md"), cmp.Or(test.to, "done/Apollo 11.md")
			src := cmp.Or(test.src, "log/today.md")
			others := append([]string{"log/today.md", src}, test.others...)
			others = slices.DeleteFunc(others, func(p string) bool { return p == from })
			means(t, src, test.before, cmp.Or(test.target, from), newTree(append(slices.Clone(others), from)...))
			means(t, cmp.Or(test.srcAfter, src), test.after, cmp.Or(test.targetAfter, to), newTree(append(others, to)...))
		})
	}
}

func means(t *testing.T, src, text, want string, paths notes.Paths) {
	t.Helper()
	if got, ok := notes.Resolve(src, firstLink(t, text), paths); !ok || got != want {
		t.Errorf("%q in %s means %q, want %q", text, src, got, want)
	}
}

// TestNoLinks are the texts of which a move changes nothing.
func TestNoLinks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"`[[Apollo]]`", "```\n[[Apollo]]\n```\n", "\\[[Apollo]]", "---\nfile: plans/Apollo.md\n---\n"} {
		if links := notes.Parse(text).Links(); len(links) > 0 {
			t.Errorf("%q has the links %+v", text, links)
		}
	}
}
