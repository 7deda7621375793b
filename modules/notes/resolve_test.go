package notes_test

import (
	"strings"
	"testing"

	"vault/modules/notes"
)

// tree is a set of paths as Resolve wants it.
type tree struct {
	byKey map[string][]string
	has   map[string]bool
}

func newTree(paths ...string) tree {
	t := tree{byKey: map[string][]string{}, has: map[string]bool{}}
	for _, p := range paths {
		key := notes.Key(p)
		t.byKey[key] = append(t.byKey[key], p)
		for at := p; at != ""; {
			t.has[at] = true
			cut := strings.LastIndexByte(at, '/')
			if cut < 0 {
				break
			}
			at = at[:cut]
		}
	}
	return t
}

func (t tree) ByKey(key string) []string { return t.byKey[key] }

func (t tree) Has(path string) bool { return t.has[path] }

// firstLink is the only link of a text.
func firstLink(t *testing.T, text string) notes.Link {
	t.Helper()
	links := notes.Parse(text).Links()
	if len(links) != 1 {
		t.Fatalf("%q has %d links", text, len(links))
	}
	return links[0]
}

func TestResolve(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, src, link, want string // want "" for nothing
		paths                 []string
	}{
		// precedence of wikilinks
		{"bare", "log/today.md", "[[Apollo]]", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"with ending", "log/today.md", "[[plans/Apollo.md]]", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"from the root", "log/today.md", "[[/plans/Apollo]]", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"slash means the root alone", "a/x.md", "[[/Apollo]]", "", []string{"a/Apollo.md"}},
		{"relative", "log/today.md", "[[../plans/Apollo]]", "plans/Apollo.md", []string{"plans/Apollo.md", "log/plans/Apollo.md"}},
		{"relative here", "a/x.md", "[[./Apollo]]", "a/Apollo.md", []string{"a/Apollo.md", "Apollo.md"}},
		{"relative means no other", "a/x.md", "[[./Apollo]]", "", []string{"b/Apollo.md"}},
		{"beyond the root", "a/x.md", "[[../../Apollo]]", "", []string{"Apollo.md"}},
		{"root beats beside", "a/x.md", "[[Note]]", "Note.md", []string{"a/Note.md", "Note.md"}},
		{"path beats beside", "a/x.md", "[[b/Note]]", "b/Note.md", []string{"a/b/Note.md", "b/Note.md"}},
		{"path suffix", "x.md", "[[b/Note]]", "a/b/Note.md", []string{"a/b/Note.md", "c/Note.md"}},
		{"a suffix is whole parts", "x.md", "[[b/Note]]", "", []string{"a/bb/Note.md", "ab/Note.md"}},
		{"beside beats shorter", "long/folder/x.md", "[[Note]]", "long/folder/Note.md", []string{"a/Note.md", "long/folder/Note.md"}},
		{"above does not count", "long/folder/x.md", "[[Note]]", "a/Note.md", []string{"a/Note.md", "long/Note.md"}},
		{"shortest string", "x.md", "[[Note]]", "a/b/Note.md", []string{"zzzz/Note.md", "a/b/Note.md"}},
		{"characters, not bytes", "x.md", "[[Note]]", "äääa/Note.md", []string{"abcde/Note.md", "äääa/Note.md"}},
		{"then by name", "x.md", "[[Note]]", "a/Note.md", []string{"b/Note.md", "a/Note.md"}},
		{"note before file", "x.md", "[[v1.2]]", "a/v1.2.md", []string{"v1.2", "a/v1.2.md"}},
		{"file with ending", "x.md", "![[fig.png]]", "img/fig.png", []string{"img/fig.png"}},
		{"file needs its ending", "x.md", "[[fig]]", "", []string{"img/fig.png"}},
		{"markdown ending", "x.md", "[[Note]]", "a/Note.markdown", []string{"a/Note.markdown"}},
		{"md before markdown", "x.md", "[[Note]]", "a/Note.md", []string{"a/Note.markdown", "a/Note.md"}},
		{"no alias or title", "x.md", "[[Other]]", "", []string{"a/Note.md"}},
		{"heading does not count", "x.md", "[[Note#Other|y]]", "a/Note.md", []string{"a/Note.md"}},
		{"not decoded", "x.md", "[[100%25]]", "100%25.md", []string{"100%25.md", "100%.md"}},
		{"decoded when nothing else fits", "x.md", "[[my%20note]]", "a/my note.md", []string{"a/my note.md"}},
		{"own heading", "a/x.md", "[[#H]]", "a/x.md", nil},
		{"external", "x.md", "[[https://x]]", "", []string{"x"}},
		// case and Unicode form
		{"case", "x.md", "[[log]]", "Log.md", []string{"Log.md"}},
		{"case of the ending", "x.md", "[[Ext.MD]]", "a/Ext.md", []string{"a/Ext.md"}},
		{"exact first", "x.md", "[[log]]", "log.md", []string{"Log.md", "log.md"}},
		{"exact suffix first", "x.md", "[[log]]", "a/log.md", []string{"a/Log.md", "a/log.md"}},
		{"first by path", "x.md", "[[loG]]", "LOG.md", []string{"Log.md", "LOG.md"}},
		{"decomposed name", "x.md", "[[Café]]", "a/Cafe\u0301.md", []string{"a/Cafe\u0301.md"}},
		{"decomposed link", "x.md", "[[Cafe\u0301]]", "Café.md", []string{"Café.md"}},
		{"form before case", "x.md", "[[é]]", "e\u0301.md", []string{"É.md", "e\u0301.md"}},
		{"final sigma", "x.md", "[[ΣΊΣΥΦΟΣ]]", "σίσυφος.md", []string{"σίσυφος.md"}},
		// Markdown links
		{"markdown relative", "log/today.md", "[p](../plans/Apollo.md)", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"markdown beside beats root", "a/x.md", "[p](Note.md)", "a/Note.md", []string{"Note.md", "a/Note.md"}},
		{"markdown from the root", "a/x.md", "[p](/b/Note.md)", "b/Note.md", []string{"b/Note.md", "a/b/Note.md"}},
		{"markdown vault path", "log/x.md", "[p](plans/Apollo.md)", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"markdown vault-wide", "x.md", "[p](My%20Note.md)", "Sub/My Note.md", []string{"Sub/My Note.md"}},
		{"markdown vault path from inside", "Sub/x.md", "[p](Sub/My%20Note.md)", "Sub/My Note.md", []string{"Sub/My Note.md"}},
		{"markdown without ending", "log/x.md", "[p](../plans/Apollo)", "plans/Apollo.md", []string{"plans/Apollo.md"}},
		{"markdown file before note", "x.md", "[p](LICENSE)", "LICENSE", []string{"LICENSE", "LICENSE.md"}},
		{"markdown relative only", "a/x.md", "[p](../Note.md)", "", []string{"b/Note.md"}},
		{"markdown decoded once", "x.md", "[p](a%2520b.md)", "a%20b.md", []string{"a%20b.md", "a b.md"}},
		{"markdown image", "a/x.md", "![](img/p.png)", "a/img/p.png", []string{"a/img/p.png", "img/p.png"}},
		{"markdown fragment", "a/x.md", "[p](#x)", "a/x.md", nil},
		{"folder", "log/x.md", "[d](../plans/)", "plans", []string{"plans/a.md"}},
		{"folder without slash", "log/x.md", "[d](../plans)", "plans", []string{"plans/a.md"}},
		{"note before folder", "log/x.md", "[d](../plans)", "plans.md", []string{"plans/a.md", "plans.md"}},
		{"slash means a folder", "log/x.md", "[d](../plans/)", "plans", []string{"plans/a.md", "plans.md"}},
		{"folder above", "a/b/x.md", "[d](..)", "a", []string{"a/b/x.md"}},
		{"folder from the root", "a/x.md", "[d](/plans/)", "plans", []string{"plans/a.md"}},
		{"vault folder", "a/x.md", "[d](plans/)", "plans", []string{"plans/a.md"}},
		{"the root itself", "a/x.md", "[d](../)", "", []string{"a/x.md"}},
		{"no folder", "x.md", "[d](nope/)", "", []string{"a/x.md"}},
		{"double slash", "x.md", "[d](a//b.md)", "a/b.md", []string{"a/b.md"}},
		{"dots inside", "x.md", "[d](a/../b.md)", "b.md", []string{"b.md"}},
		{"definition", "a/x.md", "[r]: ../b.md", "b.md", []string{"b.md"}},
		{"NUL", "x.md", "[d](a%00.md)", "", []string{"a.md"}},
		// HTML
		{"html relative", "a/x.md", "<a href=\"../b.md\">", "b.md", []string{"b.md"}},
		{"html not vault-wide", "x.md", "<a href=\"b.md\">", "", []string{"a/b.md"}},
		{"html from the root", "a/x.md", "<img src=\"/i/p.png\">", "i/p.png", []string{"i/p.png"}},
		{"html adds no ending", "x.md", "<a href=\"b\">", "", []string{"b.md"}},
		{"html folder", "x.md", "<a href=\"b/\">", "b", []string{"b/c.md"}},
		// frontmatter
		{"front", "a/x.md", "---\nup: \"[[Apollo]]\"\n---\n", "plans/Apollo.md", []string{"plans/Apollo.md"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, ok := notes.Resolve(test.src, firstLink(t, test.link), newTree(test.paths...))
			if got != test.want || ok != (test.want != "") {
				t.Errorf("%s in %s means %q, %v; want %q", test.link, test.src, got, ok, test.want)
			}
		})
	}
}

func TestResolveCanvasAndBase(t *testing.T) {
	t.Parallel()
	paths := newTree("plans/Apollo.md", "plans/2024/x.md", "board/Apollo.md")
	tests := []struct{ links []notes.Link }{
		{notes.ScanCanvas(`{"nodes":[{"file":"plans/Apollo.md"},{"file":"Apollo.md"},{"file":"PLANS/apollo.md"}]}`)},
		{notes.ScanBase(`inFolder("plans/2024") link("plans/Apollo") inFolder("Apollo") file.folder == "/plans/"`)},
	}
	want := [][]string{{"plans/Apollo.md", "", "plans/Apollo.md"}, {"plans/2024", "plans/Apollo.md", "", "plans"}}
	for i, test := range tests {
		for j, link := range test.links {
			if got, _ := notes.Resolve("board/b.canvas", link, paths); got != want[i][j] {
				t.Errorf("%+v means %q, want %q", link, got, want[i][j])
			}
		}
		if len(test.links) != len(want[i]) {
			t.Errorf("%d links, want %d", len(test.links), len(want[i]))
		}
	}
}

// TestKeyFindsEveryTarget holds Resolve and Key together: inbound links are
// found by the key of a path, so a link that resolves must carry that key.
func TestKeyFindsEveryTarget(t *testing.T) {
	t.Parallel()
	paths := []string{"a/Note.md", "100%25.md", "my%20note.md", "b/my note.md", "Café.md", "e\u0301.md", "v1.2.md", "img.png", "x.md.md", "ſ.md", "K.md"}
	links := []string{"[[note]]", "[[100%25]]", "[[100%2525]]", "[x](100%2525.md)", "[[my%20note]]", "[x](my%2520note.md)", "[x](b/my%20note.md)", "[[b%2Fmy note]]", "[x](b%2Fmy%20note.md)", "[[my note]]", "[[CAFÉ]]", "[[É]]", "[[v1.2]]", "[[img.png]]", "[[x.md.md]]", "[[S]]", "[[\u212A]]"}
	all := newTree(paths...)
	for _, text := range links {
		link := firstLink(t, text)
		if got, ok := notes.Resolve("src.md", link, all); ok && notes.Key(got) != link.Key() {
			t.Errorf("%s means %q, whose key %q is not %q", text, got, notes.Key(got), link.Key())
		}
	}
}
