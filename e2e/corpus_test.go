package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/e2e/compare"
	"vault/e2e/corpus"
)

// oddCorpus is a vault over the odd corpus, and what git says of it.
type oddCorpus struct {
	compare.Vault
	dir   string
	notes []compare.Note
}

func openOdd(t *testing.T) oddCorpus {
	t.Helper()
	dir := reachable(t)
	folder := filepath.Join(dir, "kb")
	if err := corpus.Odd(folder, corpus.Options{Seed: 1}); err != nil {
		t.Fatal(err)
	}
	notes, err := compare.Notes(folder)
	if err != nil {
		t.Fatal(err)
	}
	d := startIn(t, dir, folder)
	return oddCorpus{Vault: compare.Vault{Client: d.Client(), Repo: "kb"}, dir: dir, notes: notes}
}

// TestOddCorpus compares lists, contents, counts and searches with git, a scan
// and ripgrep, over a repository of everything odd. That anything is answered
// shows that nothing in it stops the index.
func TestOddCorpus(t *testing.T) {
	t.Parallel()
	o := openOdd(t)
	t.Run("list", o.list)
	t.Run("contents", o.contents)
	t.Run("unreadable", o.unreadable)
	t.Run("counts", o.counts)
	t.Run("search", o.search)
}

func (o oddCorpus) list(t *testing.T) {
	var want []string
	for _, n := range o.notes {
		want = append(want, n.Path)
	}
	if len(want) < corpus.Notes-60 {
		t.Fatalf("git has only %d notes that a list may hold", len(want))
	}
	for _, size := range []int{200, 37} {
		got, total, err := o.List(size)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || total != len(want) {
			t.Errorf("pages of %d: total %d, want %d; (-git +vault):\n%s", size, total, len(want), diff)
		}
	}
}

// contents reads every oddity and a share of the ordinary notes.
func (o oddCorpus) contents(t *testing.T) {
	shadowed, read := o.shadowed(), 0
	for i, n := range o.notes {
		if !n.Readable() || shadowed[n.Path] || strings.HasPrefix(n.Path, "notes/") && i%15 != 0 {
			continue
		}
		for _, path := range slices.Compact([]string{n.Path, compare.Form(n.Path)}) {
			difference, err := o.CheckText(path, n.Text)
			if err != nil || difference != "" {
				t.Errorf("%q: %s %v", path, difference, err)
			}
		}
		read++
	}
	if read < 200 {
		t.Errorf("only %d notes were read", read)
	}
}

// shadowed are the notes that another note stands in front of: both are asked
// for by the same path, and it has exactly that one.
func (o oddCorpus) shadowed() map[string]bool {
	there := map[string]bool{}
	for _, n := range o.notes {
		there[n.Path] = true
	}
	hidden := map[string]bool{}
	for _, n := range o.notes {
		if form := compare.Form(n.Path); form != n.Path && there[form] {
			hidden[n.Path] = true
		}
	}
	return hidden
}

// unreadable wants a reason for each note that is no text, and nothing at all
// for what is no ordinary file.
func (o oddCorpus) unreadable(t *testing.T) {
	seen := 0
	for _, n := range o.notes {
		if n.Readable() {
			continue
		}
		answer, isError := text(o.Client, "read_note", map[string]any{"repo": o.Repo, "path": n.Path})
		if !isError || !strings.Contains(answer, "UTF-8") && !strings.Contains(answer, "NUL") {
			t.Errorf("%q: %s", n.Path, cut(answer))
		}
		seen++
	}
	if seen < 5 {
		t.Errorf("only %d notes are no text", seen)
	}
	for _, path := range []string{
		"links/to-note.md", "links/outside.md", "links/loop.md", "modules/sub.md", "was-a-note.md", "gone/a.md",
		".hidden.md", ".obsidian/notes.md", "unsendable/new\nline.md", "unsendable/back\\slash.md",
	} {
		if answer, isError := text(o.Client, "read_note", map[string]any{"repo": o.Repo, "path": path}); !isError {
			t.Errorf("%q is read: %s", path, cut(answer))
		}
	}
}

func (o oddCorpus) counts(t *testing.T) {
	for depth := 1; depth <= 5; depth++ {
		want, counts := compare.Counts(o.notes, depth)
		got, numbers, err := o.Folders(depth)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("depth %d (-git +vault):\n%s", depth, diff)
		}
		for i, folder := range got {
			if numbers[i] != counts[folder] {
				t.Errorf("depth %d: %q has %d notes, git has %d", depth, folder, numbers[i], counts[folder])
			}
		}
	}
}

// mostHits bounds how many hits of one search are compared; of one in ten it
// is several pages.
func mostHits(i int) int {
	if i%10 == 0 {
		return 350
	}
	return 100
}

// search compares with a scan, and where ripgrep, which goes by bytes, means the
// same also with ripgrep.
func (o oddCorpus) search(t *testing.T) {
	files := filepath.Join(o.dir, "files")
	if err := compare.Export(files, o.notes); err != nil {
		t.Fatal(err)
	}
	same, found := compare.ByBytes(o.notes), 0
	scanner := compare.NewScanner(o.notes)
	for i, q := range oddQueries() {
		most := mostHits(i)
		want, err := scanner.Find(q)
		if err != nil {
			t.Fatalf("%q: %v", q.Text, err)
		}
		got, more, err := o.Search(q, most)
		if err != nil {
			t.Errorf("%q: %v", q.Text, err)
			continue
		}
		if more != (len(want) > most) {
			t.Errorf("%q: more is %t, and there are %d hits", q.Text, more, len(want))
		}
		if d := compare.Difference(got, want[:min(len(want), most)]); d != "" {
			t.Errorf("%q: %s", q.Text, d)
		}
		o.ripgrep(t, files, q, got, same)
		if len(want) > 0 {
			found++
		}
	}
	if found < 40 {
		t.Errorf("only %d queries find anything", found)
	}
}

// ripgrep compares the hits of one search with those of ripgrep, as far as
// they go.
func (o oddCorpus) ripgrep(t *testing.T, files string, q compare.Query, got []compare.Hit, same map[string]bool) {
	t.Helper()
	if strings.ContainsAny(q.Text, "\r\n") || q.Regex && (strings.Contains(q.Text, `\r`) || strings.Contains(q.Text, `\n`)) {
		return // ripgrep takes no line ends
	}
	want, err := compare.Ripgrep(files, q)
	if errors.Is(err, compare.ErrNoRipgrep) && os.Getenv("VAULT_TEST_MUST") != "1" {
		return
	}
	if err != nil {
		t.Errorf("%q: %v", q.Text, err)
		return
	}
	full := len(got)%50 == 0
	got, want = compare.Keep(got, same), compare.Keep(want, same)
	if full && len(got) < len(want) {
		want = want[:len(got)]
	}
	if d := compare.Difference(got, want); d != "" {
		t.Errorf("%q, against ripgrep: %s", q.Text, d)
	}
}

// oddQueries are literals and regular expressions over the odd corpus.
func oddQueries() []compare.Query {
	queries := []compare.Query{}
	for _, text := range []string{
		"the", "and that", "information", "zzqqxxnothing", "oddname 4", "straße", "ß", "ss", "istanbul", "ı", "caf\u00e9", "cafe\u0301", "é",
		"σίσυφος", "ς", "日本語", "한국어", "k", "ω", "100%", "a%b_c\\d", "__init__", "%25", `\u0000`, `\.`, "](", "c#", "=>", "---", "- [ ]", "|",
		"title:", "[[", "endoflargenote", "endoflongline", "needleinhay", "\t", "\u00a0", "\u200b", "👩‍👩‍👧", "x\u2028", "e\u2028", "with lf",
		"\\x00", "$id$", "carriage\rreturn", "漢字漢字", "of no note", "' or 1=1 --", "(", "[", "*", "?", `"`, " ", "\u0301", "version https://git-lfs",
	} {
		queries = append(queries, compare.Query{Text: text})
	}
	for _, text := range []string{"Straße", "STRASSE", "İstanbul", "CAF\u00c9", "CAFE\u0301", "Σ", "K", "\u212a", "The", "C:\\path", "JSON", "$Id$", "ONLY"} {
		queries = append(queries, compare.Query{Text: text, Case: true})
	}
	return append(queries, oddRegexes()...)
}

func oddRegexes() []compare.Query {
	const bytes = "(?-u)"
	return []compare.Query{
		{Text: `^# `, Regex: true},
		{Text: `^## .*s$`, Regex: true},
		{Text: `^$`, Regex: true},
		{Text: `^title: \w+$`, Regex: true, Ripgrep: `^title: [0-9A-Za-z_]+$`},
		{Text: `\bthe\b`, Regex: true, Ripgrep: bytes + `\bthe\b`},
		{Text: `(draft|final)`, Regex: true},
		{Text: `oddname [1-3]?\d$`, Regex: true, Ripgrep: `oddname [1-3]?[0-9]$`},
		{Text: `stra(ß|ss)e`, Regex: true},
		{Text: `caf[eé]`, Regex: true},
		{Text: `σ.συφο.`, Regex: true},
		{Text: `[[:punct:]]{6,}`, Regex: true},
		{Text: `\d{3,}`, Regex: true, Ripgrep: `[0-9]{3,}`},
		{Text: `[^\x00-\x7f]{3}`, Regex: true},
		{Text: `\p{Han}+`, Regex: true},
		{Text: `^\s+$`, Regex: true, Ripgrep: `^[\t\n\f\r ]+$`},
		{Text: `x*`, Regex: true},
		{Text: `zz+q{2}nothing`, Regex: true},
		{Text: `informat.on.*the`, Regex: true},
		{Text: `^(.)(.)?$`, Regex: true},
		{Text: `İ`, Regex: true, Case: true},
		{Text: `[A-Z]{4,}`, Regex: true, Case: true},
		{Text: `\AStra`, Regex: true, Case: true},
		{Text: `(?i)STRASSE`, Regex: true},
		{Text: `\.$`, Regex: true},
		{Text: `return.in`, Regex: true},
		{Text: `\r`, Regex: true},
		{Text: `a\nb`, Regex: true},
		{Text: `end.*line$`, Regex: true},
		{Text: `\x{feff}`, Regex: true},
	}
}

// TestCorpusIsTheSame holds the corpus: everything odd is in it, and the same
// seed gives the same commit.
func TestCorpusIsTheSame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var heads []string
	for i, seed := range []uint64{7, 7, 8} {
		folder := filepath.Join(dir, fmt.Sprint(i))
		if err := corpus.Odd(folder, corpus.Options{Seed: seed, Notes: 400}); err != nil {
			t.Fatal(err)
		}
		heads = append(heads, git(t, folder, "rev-parse", "HEAD"))
		if state := git(t, folder, "status", "--porcelain"); state != "" {
			t.Errorf("the work tree differs from the head: %s", state)
		}
	}
	if heads[0] != heads[1] || heads[0] == heads[2] {
		t.Errorf("heads by seed 7, 7, 8: %q", heads)
	}
	entries, err := compare.Tree(filepath.Join(dir, "0"))
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int{}
	for _, e := range entries {
		modes[e.Mode]++
	}
	for _, mode := range []string{"100644", "100755", "120000", "160000"} {
		if modes[mode] < 2 {
			t.Errorf("%d entries of mode %s", modes[mode], mode)
		}
	}
}
