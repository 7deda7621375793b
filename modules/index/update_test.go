package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFullBuild(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(files{
		"README.md":        "---\nsummary: All of it\n---\n# Hi\n",
		"a/plan.md":        "---\ntitle: The plan\ntype: decision\nstatus: open\ndue: 2026-01-05\n---\nLaunch on Monday.\r\nSee [[b]].\n",
		"a/table.base":     "views: []\n",
		"b.md":             "no frontmatter\n",
		"pic.png":          "\x89PNG\x00",
		"nul.md":           "a\x00b",
		"latin.md":         "caf\xe9\n",
		"empty.md":         "",
		".hidden/x.md":     "secret launch\n",
		"a/.dot.md":        "secret launch\n",
		"broken.md":        "---\na: [\n---\nlaunch\n",
		"gr\xfcn.md":       "launch in a path that is no text\n",
		"nfd/e\u0301té.md": "launch\n",
	})
	p := o.update()
	if p.Head != o.tip || !p.Visible {
		t.Fatalf("progress %+v", p)
	}
	s := w.snapshot("notes")
	page, err := s.List(t.Context(), ListQuery{Limit: 50, Fields: []string{"due", "nope"}})
	must(t, err)
	var got []string
	for _, n := range page.Notes {
		line := n.Path + "|" + n.Title + "|" + n.Type + "|" + n.Status + "|" + n.Summary
		for _, f := range n.Fields {
			line += "|" + f.Key + "=" + f.Shown
		}
		got = append(got, line)
	}
	want := []string{
		"README.md|README|||All of it",
		"a/plan.md|The plan|decision|open||due=2026-01-05",
		"b.md|b|||",
		"broken.md|broken|||",
		"empty.md|empty|||",
		"latin.md|latin|||",
		"nfd/e\u0301té.md|e\u0301té|||",
		"nul.md|nul|||",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if page.Total != len(want) || page.HasMore {
		t.Errorf("total %d, more %v", page.Total, page.HasMore)
	}
	res, err := s.Search(t.Context(), SearchQuery{Query: "launch", Limit: 10})
	must(t, err)
	wantHits := []Match{
		{Repo: "notes", Path: "a/plan.md", Line: 7, Text: "Launch on Monday."},
		{Repo: "notes", Path: "broken.md", Line: 4, Text: "launch"},
		{Repo: "notes", Path: "nfd/e\u0301té.md", Line: 1, Text: "launch"},
	}
	if d := cmp.Diff(wantHits, res.Matches); d != "" {
		t.Error(d)
	}
	folders, err := s.Folders(t.Context(), FolderQuery{Repo: "notes", Depth: 2, Limit: 10})
	must(t, err)
	if d := cmp.Diff([]FolderItem{{Path: "a/", Notes: 1}, {Path: "nfd/", Notes: 1}}, folders.Folders); d != "" {
		t.Error(d)
	}
	text, ok, err := s.Text(t.Context(), "notes", "nfd/été.md")
	must(t, err)
	if !ok || text.Path != "nfd/e\u0301té.md" || text.Body != "launch\n" || text.Lines != 1 {
		t.Errorf("read by its NFC spelling: %v %+v", ok, text)
	}
}
