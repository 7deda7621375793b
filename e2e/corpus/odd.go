package corpus

import (
	"fmt"
	"strings"
)

// Notes is how many Markdown files Odd writes when it is not told.
const Notes = 2_000

// Options say what Odd writes.
type Options struct {
	// Seed chooses the words.
	Seed uint64
	// Notes is how many Markdown files there are, oddities included; 0 is
	// Notes, and there are never fewer than the oddities.
	Notes int
}

// Odd writes a git repository with a work tree that holds everything odd that
// names, contents and trees of git can be, among ordinary notes, in a few
// commits with a merge.
func Odd(dir string, o Options) error {
	if o.Notes == 0 {
		o.Notes = Notes
	}
	w := newWriter(o.Seed)
	special := append(w.oddContents(), w.oddNames()...)
	special = append(special, others()...)
	last := mended(w)
	var ordinary []file
	for i := range max(0, o.Notes-countNotes(special)-countNotes(last)) {
		ordinary = append(ordinary, w.ordinary(i))
	}
	return write(dir, history(ordinary, special, last))
}

// countNotes counts the Markdown files, whatever their names are.
func countNotes(files []file) (n int) {
	for _, f := range files {
		name := strings.ToLower(f.path)
		if strings.HasPrefix(f.mode, "100") && (strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".markdown")) {
			n++
		}
	}
	return n
}

// ordinary makes the text of one note among many, in one of the shapes that
// real notes have.
func (w *writer) ordinary(i int) file {
	f := file{path: fmt.Sprintf("notes/%02d/%s-%04d.md", i%17, w.words[w.r.IntN(vocabulary)], i), mode: regular}
	text := fmt.Sprintf("---\ntitle: %s\nstatus: %s\n---\n\n# %s\n\n%s\n## %s\n\n- [ ] %s- [x] %s\n| a | b |\n| --- | --- |\n| %s | [[%s]] |\n",
		w.word(), []string{"draft", "final"}[i%2], w.word(), w.lines(4), w.word(), w.line(6), w.line(6), w.word(), w.word())
	text += scripts[i%len(scripts)] + "\n" + w.lines(i%9)
	switch i % 10 {
	case 3:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 5:
		text = "\ufeff" + text
	case 7:
		text = strings.TrimSuffix(text, "\n")
	case 8:
		f.mode = executable
	}
	f.data = text
	return f
}

// scripts are lines in which letters, cases and forms of Unicode matter.
var scripts = []string{
	"Straße und STRASSE, Fuß und FUSS",
	"İstanbul, istanbul, ISTANBUL, ıstanbul",
	"caf\u00e9 composed, cafe\u0301 decomposed, CAF\u00c9 and CAFE\u0301",
	"ΣΊΣΥΦΟΣ σίσυφος Σίσυφος ς σ",
	"日本語の文章と中文，한국어 문장",
	"\u212aelvin k K, \u017fharp s S, \u2126 ω Ω",
	"a%b_c\\d 100% __init__ C:\\path \\u0000 \\N \\.",
	"x => y; a = b; c#; ](../up.md) {{ }} <!-- --> $$ `code`",
	"tab\there, nbsp\u00a0here, zero\u200bwidth, bidi \u202eabc\u202c",
	"👩‍👩‍👧 family, é́ stacked, \u1e9b\u0323 long s, \u0344",
	"form\ffeed, line\u2028separator, next\u0085line, vertical\vtab",
	"carriage\rreturn in the middle",
}

// mended are the files of the last commit.
func mended(w *writer) []file {
	return []file{
		{"was-a-file/now.md", regular, "# Now a folder\n" + w.lines(2)},
		{"was-a-note.md", symlink, "notes"},
		{"README.md", regular, "---\nsummary: Everything odd\n---\n# Odd\n\nIt was changed.\n"},
	}
}

// history puts files into commits: half of them first, in an older version and
// beside files that go again; the rest beside the branch, merged; then what
// changed.
func history(ordinary, special, last []file) []change {
	first := []file{
		{"gone/a.md", regular, "# Gone\n"},
		{"gone/b c.md", regular, "# Gone too\n"},
		{"was-a-file", regular, "it becomes a folder\n"},
		{"was-a-note.md", regular, "# It becomes a link\n"},
		{"README.md", regular, "# Odd\n"},
	}
	half := len(ordinary) / 2
	for i, f := range ordinary[:half] {
		if i%5 == 0 {
			last = append(last, f)
			f.data += "an older line\n"
		}
		first = append(first, f)
	}
	return []change{
		{subject: "Begin", author: "Ada Lovelace", files: first},
		{subject: "Add the oddities\n\nWith a body: of two lines,\nand a colon.", author: "Åsa Öberg 李", files: special},
		{subject: "Work beside", author: "D'Arcy \"Q\"", files: ordinary[half:], side: true},
		{subject: "Merge and mend", author: "Ada Lovelace", remove: []string{"gone", "was-a-file", "was-a-note.md"}, files: last},
	}
}
