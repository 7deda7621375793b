package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// sortedFiles makes notes out of contents by name, always in the same order.
func sortedFiles(folder string, contents map[string]string) []file {
	var files []file
	for _, name := range slices.Sorted(maps.Keys(contents)) {
		files = append(files, file{folder + name + ".md", regular, contents[name]})
	}
	return files
}

// oddNames makes ordinary notes whose names are odd. Some of them no caller
// can send, and so no list may hold them.
func (w *writer) oddNames() []file {
	names := []string{
		// Forms of Unicode.
		"names/caf\u00e9 composed.md", "names/cafe\u0301 decomposed.md", "nfd-folde\u0301r/inside.md", "nfd-folde\u0301r/deep/u\u0308ber.md",
		"names/\u1112\u1161\u11ab.md", "names/\u212bngstrom.md", "names/\ufb01 ligature.md", "names/İstanbul.md",
		"names/👩‍👩‍👧.md", "names/日本語/ノート.md", "names/zero\u200bwidth.md", "names/nbsp\u00a0.md",
		// Marks that mean something elsewhere.
		"names/it's \"quoted\".md", "names/100%25.md", "names/100%.md", "names/%2e%2e.md", "names/a#b.md", "names/a|b.md", "names/[a].md",
		"names/a^b.md", "names/a?b*c.md", "names/a:b.md", "names/a<b>c.md", "names/$(touch x).md", "names/`x`.md", "names/;x&y.md",
		"names/{a,b}.md", "names/!bang.md", "names/~tilde.md", "names/@{u}.md", "names/a_b%c.md", "names/(paren).md", "names/a=b.md",
		"-leading dash.md", "--exec=x.md", ":(glob)magic.md", ":!magic.md", "HEAD.md", "FETCH_HEAD.md", "names/ leading space.md", "names/trailing space .md",
		"names/trailing dot..md", "names/two  spaces.md", "names/CON.md", "names/aux.markdown", "names/comma, semicolon.md", "names/git~1.md",
		// Endings.
		"names/long ending.markdown", "names/UPPER.MD", "names/Mixed.Markdown", "names/twice.md.md", "names/both.markdown.md", "names/dots.in.name.md",
		"folder.md/inside.md", "folder.md/README.md", "same.md", "same/same.md", "same/same/same.md", "same.md.d/x.md",
		// Spellings.
		"case/Note.md", "case/note.md", "case/NOTE.md", "Case/note.md", "readmes/a/README.md", "readmes/b/readme.md", "readmes/c/Readme.md",
		"readmes/d/README.MD", "readmes/e/README.markdown", "readmes/f/README.md", "readmes/f/readme.md",
		// Depth and length.
		strings.Repeat("deep/", 60) + "bottom.md", "names/" + strings.Repeat("n", 250) + ".md",
		strings.Repeat(strings.Repeat("l", 200)+"/", 6) + "long.md",
		// Names of which no caller can send the first.
		"unsendable/new\nline.md", "unsendable/tab\tin.md", "unsendable/return\r.md", "unsendable/escape\x1b.md", "unsendable/delete\x7f.md",
		"unsendable/c1\u0085.md", "unsendable/back\\slash.md", "unsendable/bidi\u202edm.md", "unsendable/isolate\u2066.md", "unsendable/separator\u2028.md",
		"unsendable/invalid\xff.md", "unsendable/half\xc3.md", "unsendable\xfe/inside.md", "unsendable/latin\xe9.markdown", "new\nline folder/inside.md",
		// Hidden ones.
		".hidden.md", ".hidden/inside.md", "names/.hidden/inside.md", "names/.md", "names/...md", ".obsidian/notes.md", ".github/README.md", ".trash/old.md",
		// Ordinary ones beside them.
		"sort/a.md", "sort/a/b.md", "sort/a-b.md", "sort/a0.md", "sort/a b.md", "sort/A.md", "sort/ä.md", "sort/a.b/c.md",
	}
	files := make([]file, len(names))
	for i, name := range names {
		files[i] = file{name, regular, fmt.Sprintf("---\ntitle: Named oddly %d\n---\noddname %d\n%s", i, i, w.lines(2))}
	}
	return files
}

// others gives entries that are no notes: other files, links, submodules.
func others() []file {
	return []file{
		{"links/to-note.md", symlink, "../README.md"},
		{"links/to-folder", symlink, "../notes"},
		{"links/dangling.md", symlink, "nowhere.md"},
		{"links/outside.md", symlink, "/etc/passwd"},
		{"links/loop.md", symlink, "loop.md"},
		{"links/beside.md", regular, "# The only note among links\n"},
		{"modules/sub", submodule, "1234567890123456789012345678901234567890"},
		{"modules/sub.md", submodule, "1234567890123456789012345678901234567890"},
		{"modules/note.md", regular, "# Beside submodules\n"},
		{".gitmodules", regular, "[submodule \"sub\"]\n\tpath = modules/sub\n\turl = https://example.org/sub.git\n"},
		{".gitattributes", regular, "*.lfs.md filter=lfs diff=lfs merge=lfs -text\nattributes/*.md text eol=crlf ident\n"},
		{"attributes/ident.md", regular, "$Id$\nstored with LF\n"},
		{"attributes/model.lfs.md", regular, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"},
		{"scripts/run.md", executable, "#!/bin/sh\necho a note that can be run\n"},
		{"scripts/run.sh", executable, "#!/bin/sh\necho no note\n"},
		{"files/data.csv", regular, "a,b\n1,2\n"},
		{"files/view.base", regular, "views:\n  - type: table\n    name: All\n"},
		{"files/board.canvas", regular, `{"nodes":[{"id":"1","type":"file","file":"README.md","x":0,"y":0,"width":1,"height":1}],"edges":[]}`},
		{"files/broken.canvas", regular, `{"nodes":[`},
		{"files/image.png", regular, "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
		{"files/no-ending", regular, "the text of no note\n"},
		{"files/note.mdx", regular, "# No note\n"},
		{"files/note.md.bak", regular, "# No note\n"},
		{"files/notemd", regular, "# No note\n"},
		{"no-notes/only.txt", regular, "a folder without notes\n"},
	}
}
