package localhub_test

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkAccess is the query that asks who may read what.
func BenchmarkAccess(b *testing.B) {
	w := newWorld(b)
	k := newWork(b)
	k.commit("One", "a.md", "1")
	r := w.add("kb", k.dir)
	token := w.token(0)
	for b.Loop() {
		w.query(token, `query($ids:[ID!]!){viewer{login} nodes(ids:$ids){... on Repository{viewerPermission isEmpty defaultBranchRef{target{oid}}}}}`, map[string]any{"ids": []string{r.NodeID}})
	}
}

// BenchmarkCompareOneNote is what the indexer asks after a small push.
func BenchmarkCompareOneNote(b *testing.B) {
	w := newWorld(b)
	k := newWork(b)
	for i := range 1000 {
		k.write(fmt.Sprintf("f%d/n%d.md", i%20, i), strings.Repeat("line\n", 50))
	}
	base := k.commit("Many")
	head := k.commit("One", "f1/n1.md", "changed")
	w.add("kb", k.dir)
	token := w.token(0)
	for b.Loop() {
		if a := w.get("/repos/acme/kb/compare/"+base+"..."+head, token); a.status != 200 {
			b.Fatal(a.status)
		}
	}
}

// BenchmarkFiles reads a hundred files of one commit in one query.
func BenchmarkFiles(b *testing.B) {
	w := newWorld(b)
	k := newWork(b)
	var fields strings.Builder
	for i := range 100 {
		path := fmt.Sprintf("f%d/n%d.md", i%20, i)
		k.write(path, strings.Repeat(fmt.Sprintln("line", i), 50))
		fmt.Fprintf(&fields, "f%d:file(path:%q){oid object{... on Blob{text}}} ", i, path)
	}
	head := k.commit("Many")
	w.add("kb", k.dir)
	token := w.token(0)
	query := `{repository(owner:"acme",name:"kb"){object(oid:"` + head + `"){... on Commit{` + fields.String() + `}}}}`
	for b.Loop() {
		if _, errs := w.query(token, query, nil); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
