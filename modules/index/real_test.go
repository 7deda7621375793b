package index

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"vault/platform/git"
)

// TestRealCorpus measures on a git repository named by VAULT_CORPUS. It is
// not part of the usual run.
func TestRealCorpus(t *testing.T) {
	dir := os.Getenv("VAULT_CORPUS")
	if dir == "" {
		t.Skip("VAULT_CORPUS names no git folder")
	}
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	source := w.runner.Open(dir, dir)
	t.Cleanup(func() { _ = source.Close() })
	tip, err := source.Ref(t.Context(), "refs/heads/main")
	must(t, err)
	o.git, err = w.runner.InitBare(t.Context(), t.TempDir(), "main", dir+"/objects")
	must(t, err)
	t.Cleanup(func() { _ = o.git.Close() })
	o.set(tip)

	var oids []git.OID
	must(t, o.git.Tree(t.Context(), tip, func(e git.TreeEntry) error {
		if strings.HasSuffix(e.Path, ".md") {
			oids = append(oids, e.OID)
		}
		return nil
	}))
	var plain time.Duration
	for range 3 {
		start := time.Now()
		must(t, o.git.Blobs(t.Context(), oids, textLimit, func(git.Blob) error { return nil }))
		plain = time.Since(start)
	}
	start := time.Now()
	p, err := w.index.Update(t.Context(), UpdateInput{Repo: o.info, Mirror: o.source()})
	must(t, err)
	visible := time.Since(start)
	start = time.Now()
	o.update()
	t.Logf("%d notes: cat-file %v, visible %v (%.1fx), search index %v, %+v",
		len(oids), plain, visible, float64(visible)/float64(plain), time.Since(start), p)

	s := w.snapshot("notes")
	measure := func(name string, q SearchQuery) {
		q.Limit = 20
		var best time.Duration
		var n int
		for i := range 5 {
			start := time.Now()
			r, err := s.Search(t.Context(), q)
			must(t, err)
			if d := time.Since(start); i == 0 || d < best {
				best = d
			}
			n = len(r.Matches)
		}
		t.Logf("%-28s %8.2f ms  %d hits", name, float64(best.Microseconds())/1000, n)
	}
	for _, q := range []string{
		"zzqqxxyy", "vcpkg", "deprecated", "std::unique_ptr", "that the information", "function", "the", "c#", "is",
		"](../", "Function", "memory leak", "iterator",
	} {
		measure(q, SearchQuery{Query: q})
	}
	for _, q := range []string{
		`std::\w+_ptr\b`, `warning C4\d{3}`, `^## .*[Pp]arameters$`, `\d{4}-\d{2}-\d{2}`, `foo.*bar`, `(vcpkg|conan)\s+install`,
		`[a-z]{40}`, `^.{900}`,
	} {
		measure("re "+q, SearchQuery{Query: q, Regex: true})
	}
	timed := func(name string, f func() error) {
		var best time.Duration
		for i := range 20 {
			start := time.Now()
			must(t, f())
			if d := time.Since(start); i == 0 || d < best {
				best = d
			}
		}
		t.Logf("%-28s %8.2f ms", name, float64(best.Microseconds())/1000)
	}
	ctx := t.Context()
	timed("list 50", func() error { _, err := s.List(ctx, ListQuery{Limit: 50}); return err })
	timed("list offset 9000 + fields", func() error {
		_, err := s.List(ctx, ListQuery{Limit: 50, Offset: 9000, Fields: []string{"ms.date"}})
		return err
	})
	timed("tree 2", func() error { _, err := s.Folders(ctx, FolderQuery{Repo: "notes", Depth: 2, Limit: 50}); return err })
	timed("near", func() error { _, err := s.Near(ctx, "notes", "docs/cpp/lambda-expresions.md"); return err })
	page, err := s.List(ctx, ListQuery{Limit: 1, Offset: 5000})
	must(t, err)
	timed("text", func() error { _, _, err := s.Text(ctx, "notes", page.Notes[0].Path); return err })
	timed("snapshot + text + close", func() error {
		s, err := w.index.Snapshot(ctx, w.scope("notes"))
		if err != nil {
			return err
		}
		defer s.Close()
		_, _, err = s.Text(ctx, "notes", page.Notes[0].Path)
		return err
	})
	timed("single-row select", func() error {
		var body string
		return w.db.QueryRow(ctx, `SELECT b.body FROM file f JOIN blob b ON b.id = f.blob WHERE f.repo = $1 AND f.path = $2`,
			o.info.ID, page.Notes[0].Path).Scan(&body)
	})
	s.Close()
	i := 0
	timed("push of one note", func() error {
		i++
		o.commit(files{page.Notes[0].Path: fmt.Sprintf("changed %d times\n", i)})
		start := time.Now()
		_, err := w.index.Update(ctx, UpdateInput{Repo: o.info, Mirror: o.source()})
		t.Logf("   update alone %v", time.Since(start))
		return err
	})
}
