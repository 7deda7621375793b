package acme

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"vault/platform/git"
)

const by = "Author: Ann <ann@acme.example>\nDate: 2026-01-01T10:00:00+01:00\n"

func files(texts map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for path, text := range texts {
		m[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

func TestReadHistory(t *testing.T) {
	t.Parallel()
	got, err := readHistory(files(map[string]string{
		"01-a/commit":     by + "\nAdd three\n\nWhy.\n",
		"01-a/a/1.md":     "one",
		"01-a/a/b/2.md":   "two",
		"01-a/ab.md":      "not below a/",
		"01-a/gone.md":    "x",
		"01-a/.vault/f":   "hidden",
		"02-b/commit":     by + "Move: a/ -> c/\nDelete: gone.md\nMove: ab.md -> d.md\n\nMove\n",
		"02-b/c/1.md":     "one, changed",
		"02-b/c/a/new.md": "new",
		"02-b/.vault/f":   "hidden",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].message != "Add three\n\nWhy.\n" || got[1].folder != "02-b" {
		t.Fatalf("commits %+v", got)
	}
	if a := got[0].author; a.Name != "Ann" || a.Email != "ann@acme.example" || a.When.Format("Z07:00") != "+01:00" {
		t.Errorf("author %+v", a)
	}
	want := []git.FileChange{
		{Path: "a/1.md", Delete: true},
		{Path: "a/b/2.md", Delete: true},
		{Path: "ab.md", Delete: true},
		{Path: "c/1.md", Data: []byte("one, changed")},
		{Path: "c/a/new.md", Data: []byte("new")},
		{Path: "c/b/2.md", Data: []byte("two")},
		{Path: "d.md", Data: []byte("not below a/")},
		{Path: "gone.md", Delete: true},
	}
	if diff := cmp.Diff(want, got[1].changes); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestReadHistoryRefuses(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ header, want string }{
		"no message":       {by, "no message"},
		"blank message":    {by + "\n \n", "no message"},
		"no date":          {"Author: Ann <ann@acme.example>\n\nAdd\n", "lacks"},
		"no author":        {"Date: 2026-01-01T10:00:00Z\n\nAdd\n", "lacks"},
		"wrong date":       {by + "Date: yesterday\n\nAdd\n", "yesterday"},
		"wrong author":     {"Author: Ann\n\nAdd\n", "Author: Ann"},
		"unknown key":      {by + "Colour: red\n\nAdd\n", "unknown key"},
		"missing file":     {by + "Delete: a.md\n\nAdd\n", "no such file"},
		"missing folder":   {by + "Move: a/ -> b/\n\nAdd\n", "no such file"},
		"move to nowhere":  {by + "Move: x.md\n\nAdd\n", "no target"},
		"file as a folder": {by + "Move: x.md/ -> b/\n\nAdd\n", "no such file"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := readHistory(files(map[string]string{
				"01/commit": by + "\nAdd\n", "01/x.md": "x", "02/commit": test.header,
			}))
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "02: ") {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
	if _, err := readHistory(files(map[string]string{"01/x.md": "x"})); err == nil {
		t.Error("a folder without a header was accepted")
	}
}
