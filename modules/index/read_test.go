package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/modules/notes"
)

func readWorld(t *testing.T) *world {
	w := newWorld(t, "alpha", "beta")
	change := files{
		"README.md":           "---\nsummary: root\n---\n",
		"work/README.md":      "---\nsummary: all work\n---\n",
		"work/readme.md":      "---\nsummary: not this one\n---\n",
		"work/apollo/a.md":    "---\ntype: plan\nstatus: open\ntags: [x, y]\n---\nhit one\n100%_\\ sure\nhit two\n",
		"work/apollo/b.md":    "---\ntype: plan\nstatus: done\n---\nHIT three\nhit four " + strings.Repeat("é", 400) + "\n",
		"work/zeus/c.md":      "---\ntype: task\n---\nnothing\r\nhit five\r\n",
		"work.md":             "hit six\n",
		"work-x/d.md":         "hit seven\n",
		"data/x.csv":          "hit,none\n",
		"u\u0308ber/e.md":     "hit eight\n", // NFD folder
		"über/f.md":           "hit nine\n",  // the same in NFC
		"deep/1/2/3/4/5/g.md": "hit ten\n",
	}
	w.repos["alpha"].commit(change)
	w.repos["alpha"].update()
	w.repos["beta"].commit(files{"h.md": "hit eleven\n"})
	w.repos["beta"].update()
	return w
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := readWorld(t).snapshot("alpha", "beta")
	for _, q := range []SearchQuery{
		{Query: "hit"}, {Query: "hi"}, {Query: "hit \\w+", Regex: true}, {Query: "\\w", Regex: true},
		{Query: "hit", Folder: "work"}, {Query: "HIT"}, {Query: "hit", Folder: "über"}, {Query: "hit", File: "work/apollo/a.md"},
	} {
		q.Limit = 1000
		all, err := s.Search(t.Context(), q)
		must(t, err)
		if all.HasMore || len(all.Matches) == 0 {
			t.Fatalf("%+v: %d hits", q, len(all.Matches))
		}
		var paged []Match
		for q.Limit, q.Offset = 3, 0; ; q.Offset += 3 {
			page, err := s.Search(t.Context(), q)
			must(t, err)
			paged = append(paged, page.Matches...)
			if !page.HasMore {
				break
			}
		}
		if d := cmp.Diff(all.Matches, paged); d != "" {
			t.Errorf("%+v: -all +pages\n%s", q, d)
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := readWorld(t).snapshot("alpha", "beta")
	tests := []struct {
		q    SearchQuery
		want string
	}{
		{SearchQuery{Query: "hit"}, "alpha/deep/1/2/3/4/5/g.md:1 alpha/u\u0308ber/e.md:1 alpha/work-x/d.md:1 alpha/work.md:1 " +
			"alpha/work/apollo/a.md:6 alpha/work/apollo/a.md:8 alpha/work/apollo/b.md:5 alpha/work/apollo/b.md:6 " +
			"alpha/work/zeus/c.md:5 alpha/über/f.md:1 beta/h.md:1"},
		{SearchQuery{Query: "HIT"}, "alpha/work/apollo/b.md:5"},
		{SearchQuery{Query: "100%_\\ s"}, "alpha/work/apollo/a.md:7"},
		{SearchQuery{Query: "%_"}, "alpha/work/apollo/a.md:7"},
		{SearchQuery{Query: "hit_one"}, ""},
		{SearchQuery{Query: "hit", Folder: "work"}, "alpha/work/apollo/a.md:6 alpha/work/apollo/a.md:8 alpha/work/apollo/b.md:5 " +
			"alpha/work/apollo/b.md:6 alpha/work/zeus/c.md:5"},
		{SearchQuery{Query: "hit", Folder: "über"}, "alpha/u\u0308ber/e.md:1 alpha/über/f.md:1"},
		{SearchQuery{Query: "hit", File: "work/zeus/c.md"}, "alpha/work/zeus/c.md:5"},
		{SearchQuery{Query: "five$", Regex: true}, "alpha/work/zeus/c.md:5"},
		{SearchQuery{Query: "^hit (one|two)$", Regex: true}, "alpha/work/apollo/a.md:6 alpha/work/apollo/a.md:8"},
		{SearchQuery{Query: "a\x00b"}, ""},
		{SearchQuery{Query: "type: plan"}, "alpha/work/apollo/a.md:2 alpha/work/apollo/b.md:2"},
	}
	for _, tt := range tests {
		tt.q.Limit = 100
		res, err := s.Search(t.Context(), tt.q)
		must(t, err)
		var got []string
		for _, m := range res.Matches {
			got = append(got, fmt.Sprintf("%s/%s:%d", m.Repo, m.Path, m.Line))
			if m.Path == "work/apollo/b.md" && m.Line == 6 && (!m.Shortened || !strings.HasPrefix(m.Text, "hit four") || len([]rune(m.Text)) != 300) {
				t.Errorf("a long line is shown as %q", m.Text)
			}
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%+v: %s", tt.q, d)
		}
	}
}

func TestShown(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 500) + "MATCH" + strings.Repeat("b", 500)
	start := strings.Index(long, "MATCH")
	text, shortened := lineHit{line: long, start: start, end: start + 5}.shown()
	if !shortened || len([]rune(text)) != 300 || !strings.Contains(text, "ääMATCHbb") {
		t.Errorf("shown %q", text)
	}
	end := lineHit{line: long, start: len(long) - 1, end: len(long)}
	if text, _ := end.shown(); len([]rune(text)) != 300 || !strings.HasSuffix(long, text) {
		t.Errorf("at the end: %q", text)
	}
	if text, _ := (lineHit{line: long, start: 0, end: len(long)}).shown(); len([]rune(text)) != 300 || !strings.HasPrefix(long, text) {
		t.Errorf("all of it: %q", text)
	}
	if text, shortened := (lineHit{line: "short"}).shown(); text != "short" || shortened {
		t.Errorf("short: %q", text)
	}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	s := readWorld(t).snapshot("alpha")
	tests := []struct {
		q    FolderQuery
		want string
	}{
		{FolderQuery{Depth: 1}, "deep/=1 u\u0308ber/=1 work-x/=1 work/=5(all work) über/=1"},
		{FolderQuery{Depth: 2, Folder: "work"}, "work/apollo/=2 work/zeus/=1"},
		{FolderQuery{Depth: 5}, "deep/=1 deep/1/=1 deep/1/2/=1 deep/1/2/3/=1 deep/1/2/3/4/=1 u\u0308ber/=1 work-x/=1 " +
			"work/=5(all work) work/apollo/=2 work/zeus/=1 über/=1"},
		{FolderQuery{Depth: 2, Folder: "nowhere"}, ""},
	}
	for _, tt := range tests {
		tt.q.Repo, tt.q.Limit = "alpha", 100
		page, err := s.Folders(t.Context(), tt.q)
		must(t, err)
		var got []string
		for _, f := range page.Folders {
			line := fmt.Sprintf("%s=%d", f.Path, f.Notes)
			if f.Readme != "" {
				line += "(" + f.Summary + ")"
			}
			got = append(got, line)
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" || page.Total != len(page.Folders) || page.HasMore {
			t.Errorf("%+v: %s", tt.q, d)
		}
		// Each count is what List counts.
		for _, f := range page.Folders {
			list, err := s.List(t.Context(), ListQuery{Folder: strings.TrimSuffix(f.Path, "/"), Limit: 1})
			must(t, err)
			if list.Total != f.Notes && !strings.Contains(f.Path, "ber") {
				t.Errorf("%s: %d, listed %d", f.Path, f.Notes, list.Total)
			}
		}
	}
	page, err := s.Folders(t.Context(), FolderQuery{Repo: "alpha", Depth: 5, Offset: 4, Limit: 3})
	must(t, err)
	if page.Total != 11 || !page.HasMore || len(page.Folders) != 3 || page.Folders[0].Path != "deep/1/2/3/4/" {
		t.Errorf("a page: %+v", page)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	s := readWorld(t).snapshot("alpha", "beta")
	tests := []struct {
		q     ListQuery
		want  string
		total int
	}{
		{ListQuery{Type: "plan", Limit: 10}, "work/apollo/a.md work/apollo/b.md", 2},
		{ListQuery{Type: "plan", Status: "open", Limit: 10}, "work/apollo/a.md", 1},
		{ListQuery{Status: "done", Folder: "work", Limit: 10}, "work/apollo/b.md", 1},
		{ListQuery{Type: "pla", Limit: 10}, "", 0},
		{ListQuery{Folder: "über", Limit: 10}, "u\u0308ber/e.md über/f.md", 2},
		{ListQuery{Limit: 2, Offset: 10}, "über/f.md h.md", 12},
		{ListQuery{Repos: []string{"beta"}, Limit: 2}, "h.md", 1},
		{ListQuery{Limit: 5, Offset: 100}, "", 12},
	}
	for _, tt := range tests {
		page, err := s.List(t.Context(), tt.q)
		must(t, err)
		var got []string
		for _, n := range page.Notes {
			got = append(got, n.Path)
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" || page.Total != tt.total {
			t.Errorf("%+v: total %d: %s", tt.q, page.Total, d)
		}
		if more := tt.q.Offset+len(page.Notes) < page.Total && len(page.Notes) > 0; page.HasMore != more {
			t.Errorf("%+v: more %v", tt.q, page.HasMore)
		}
	}
	values, err := s.Values(t.Context(), ValuesOfType, nil, 10)
	must(t, err)
	if d := cmp.Diff([]ValueCount{{"plan", 2}, {"task", 1}}, values); d != "" {
		t.Error(d)
	}
}

func TestNear(t *testing.T) {
	t.Parallel()
	s := readWorld(t).snapshot("alpha")
	tests := []struct{ missing, want string }{
		{"elsewhere/c.md", "work/zeus/c.md"},
		{"elsewhere/c", "work/zeus/c.md"},
		{"work/apollo/aa.md", "work/apollo/a.md work/apollo/b.md work/readme.md work/README.md work/zeus/c.md"},
		{"data/y.csv", "data/x.csv"},
		{"completely/other/thing/that/is/long.md", ""},
	}
	for _, tt := range tests {
		got, err := s.Near(t.Context(), "alpha", tt.missing)
		must(t, err)
		if tt.want == "" && len(got) == 0 {
			continue
		}
		first, _, _ := strings.Cut(tt.want, " ")
		if len(got) == 0 || got[0] != first || len(got) > 5 {
			t.Errorf("%s: %v", tt.missing, got)
		}
	}
	folders, err := s.NearFolders(t.Context(), "alpha", "wrk/apolo")
	must(t, err)
	if len(folders) == 0 || folders[0] != "work/apollo" {
		t.Errorf("near folders %v", folders)
	}
	folders, err = s.NearFolders(t.Context(), "alpha", "zeus")
	must(t, err)
	if len(folders) == 0 || folders[0] != "work/zeus" {
		t.Errorf("near folders %v", folders)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "notes")
	o := w.repos["notes"]
	o.commit(files{
		settingsFile: settings(`"open"`), "open/src.md": "", "open/x.md": "", "open/sub/y.md": "", "closed/z.md": "",
		"closed/src/near.md": "", "open/far/away/near.md": "", ".hid/h.md": "", "open/pic.png": "\x00",
	})
	o.update()
	s := w.snapshot("notes")
	text := "[[x]] [[z]] [[near]] [[h]] [[pic.png]] [a](sub/y.md) [b](sub/) [c](../closed/) [d](#top) [[nothing]] [e](sub) [f](X.md)"
	got, err := s.Resolve(t.Context(), "notes", "open/src.md", notes.Parse(text).Links())
	must(t, err)
	want := []Resolved{
		{Path: "open/x.md"}, {}, {}, {}, {Path: "open/pic.png"}, {Path: "open/sub/y.md"}, {Path: "open/sub", Folder: true}, {},
		{Path: "open/src.md"}, {}, {Path: "open/sub", Folder: true}, {Path: "open/x.md"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
