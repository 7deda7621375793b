package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadingOneRepository(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	p.write("README.md", "# One\n")
	p.write("a/ü \"quoted\"\nline.md", "text\n")
	first := p.commit("First subject\ngoes on\n\nBody line\n\n\n")
	p.write("README.md", "# Two\n")
	p.write("b.md", "b\n")
	if err := os.Remove(filepath.Join(p.dir, "a/ü \"quoted\"\nline.md")); err != nil {
		t.Fatal(err)
	}
	second := p.commit("Second")
	repo := open(t, newRunner(t), p.gitDir())
	ctx := t.Context()

	branch, head, err := repo.Head(ctx)
	if err != nil || branch != "main" || head != second {
		t.Errorf("Head = %q, %q, %v", branch, head, err)
	}
	if oid, err := repo.Ref(ctx, "refs/heads/main"); err != nil || oid != second {
		t.Errorf("Ref = %q, %v", oid, err)
	}
	if _, err := repo.Ref(ctx, "refs/heads/none"); !errors.Is(err, ErrNotFound) {
		t.Errorf("Ref of none: %v", err)
	}
	wantTree := []TreeEntry{
		{Mode: ModeFile, Type: "blob", OID: BlobOID([]byte("# One\n")), Size: 6, Path: "README.md"},
		{Mode: ModeFile, Type: "blob", OID: BlobOID([]byte("text\n")), Size: 5, Path: "a/ü \"quoted\"\nline.md"},
	}
	if diff := cmp.Diff(wantTree, listTree(t, repo, first)); diff != "" {
		t.Error(diff)
	}
	wantDiff := []Change{
		{Status: 'M', OldMode: ModeFile, NewMode: ModeFile, OldOID: BlobOID([]byte("# One\n")), NewOID: BlobOID([]byte("# Two\n")), Path: "README.md"},
		{Status: 'D', OldMode: ModeFile, OldOID: BlobOID([]byte("text\n")), NewOID: Zero, Path: "a/ü \"quoted\"\nline.md"},
		{Status: 'A', NewMode: ModeFile, OldOID: Zero, NewOID: BlobOID([]byte("b\n")), Path: "b.md"},
	}
	if diff := cmp.Diff(wantDiff, listDiff(t, repo, first, second)); diff != "" {
		t.Error(diff)
	}
	if got := listDiff(t, repo, Zero, first); len(got) != 2 || got[0].Status != 'A' {
		t.Errorf("Diff from nothing = %v", got)
	}
	if got := listDiff(t, repo, first, Zero); len(got) != 2 || got[0].Status != 'D' {
		t.Errorf("Diff to nothing = %v", got)
	}
	c, err := repo.Commit(ctx, first)
	want := Commit{
		OID: first, Tree: OID(p.run("rev-parse", string(first)+"^{tree}")),
		Author:    Signature{"Ann Author", "ann@example.org", time.Unix(1700000000, 0).In(time.FixedZone("", 19800))},
		Committer: Signature{"Carl Committer", "carl@example.org", time.Unix(1700000100, 0).In(time.FixedZone("", -7200))},
		Subject:   "First subject goes on", Body: "Body line",
	}
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, want := c.Author.When.Format(time.RFC3339), "2023-11-15T03:43:20+05:30"; got != want {
		t.Errorf("author time = %s, want %s", got, want)
	}
}

func listTree(t testing.TB, repo *Repo, commit OID) (list []TreeEntry) {
	t.Helper()
	err := repo.Tree(t.Context(), commit, func(e TreeEntry) error { list = append(list, e); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func listDiff(t testing.TB, repo *Repo, from, to OID) (list []Change) {
	t.Helper()
	err := repo.Diff(t.Context(), from, to, func(c Change) error { list = append(list, c); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestBlobs(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	small, large, odd := "small\n", strings.Repeat("x", 5000), "nul\x00 and \xff\n\n"
	p.write("small", small)
	p.write("large", large)
	p.write("odd", odd)
	p.write("empty", "")
	commit := p.commit("c")
	repo := open(t, newRunner(t), p.gitDir())
	absent := OID(strings.Repeat("1", 40))
	oid := func(s string) OID { return BlobOID([]byte(s)) }
	asked := []OID{oid(small), absent, oid(large), commit, oid(odd), oid(""), oid(small)}
	var got []Blob
	err := repo.Blobs(t.Context(), asked, 100, func(b Blob) error {
		if b.Data != nil {
			b.Data = append([]byte{}, b.Data...)
		}
		got = append(got, b)
		return nil
	})
	want := []Blob{
		{OID: oid(small), Data: []byte(small), Size: 6},
		{OID: absent, Size: -1, Missing: true},
		{OID: oid(large), Size: 5000, TooLarge: true},
		{OID: commit, Size: -1, Missing: true},
		{OID: oid(odd), Data: []byte(odd), Size: int64(len(odd))},
		{OID: oid(""), Data: []byte{}},
		{OID: oid(small), Data: []byte(small), Size: 6},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	stop := errors.New("enough")
	if err := repo.Blobs(t.Context(), asked, 100, func(Blob) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("callback's error: got %v", err)
	}
}

func TestBlob(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	huge := strings.Repeat("0123456789abcde\n", 1<<19) // 8 MB
	p.write("huge", huge)
	p.write("mid", huge[:1<<20])
	p.write("small", "s")
	p.commit("c")
	repo := open(t, newRunner(t), p.gitDir())
	for range 2 { // once with a new process, once with the standing one
		if _, err := repo.Blob(t.Context(), BlobOID([]byte(huge)), 1000); !errors.Is(err, ErrTooLarge) {
			t.Errorf("huge: %v", err)
		}
		if _, err := repo.Blob(t.Context(), BlobOID([]byte(huge[:1<<20])), 1000); !errors.Is(err, ErrTooLarge) {
			t.Errorf("mid: %v", err)
		}
		if _, err := repo.Blob(t.Context(), OID(strings.Repeat("1", 40)), 1000); !errors.Is(err, ErrNotFound) {
			t.Errorf("absent: %v", err)
		}
		if data, err := repo.Blob(t.Context(), BlobOID([]byte("s")), 1); err != nil || string(data) != "s" {
			t.Errorf("small: %q, %v", data, err)
		}
	}
	if data, err := repo.Blob(t.Context(), BlobOID([]byte(huge)), 1<<24); err != nil || string(data) != huge {
		t.Errorf("huge in full: %d bytes, %v", len(data), err)
	}
	if err := repo.Close(); err != nil {
		t.Error(err)
	}
	if _, err := repo.Blob(t.Context(), BlobOID([]byte("s")), 1); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestUpdateRef(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	one, two := p.commit("one"), p.commit("two")
	repo := open(t, newRunner(t), p.gitDir())
	const name = "refs/heads/side"
	steps := []struct {
		why      string
		to, from OID
		want     error
		after    OID
	}{
		{"move what is not there", two, one, ErrRefMoved, ""},
		{"create", one, Zero, nil, one},
		{"create what is there", two, Zero, ErrRefMoved, one},
		{"move", two, one, nil, two},
		{"move from a stale value", two, one, ErrRefMoved, two},
		{"move to what is no object", OID(strings.Repeat("1", 40)), two, errAny, two},
		{"move to a malformed id", "HEAD", two, ErrRefused, two},
		{"delete from a stale value", Zero, one, ErrRefMoved, two},
		{"delete", Zero, two, nil, ""},
		{"delete what is not there", Zero, two, ErrRefMoved, ""},
	}
	for _, s := range steps {
		err := repo.UpdateRef(t.Context(), name, s.to, s.from)
		if s.want == errAny && err == nil || s.want != errAny && !errors.Is(err, s.want) {
			t.Errorf("%s: error %v, want %v", s.why, err, s.want)
		}
		after, err := repo.Ref(t.Context(), name)
		if after != s.after || (err != nil) != (s.after == "") {
			t.Errorf("%s: ref is %q (%v), want %q", s.why, after, err, s.after)
		}
	}
	for _, bad := range []string{"", "HEAD", "main", "refs/heads/a\x00b", "refs/heads/a\nb", "refs/", "-refs/heads/x", "refs/heads/a..b"} {
		if err := repo.UpdateRef(t.Context(), bad, one, Zero); err == nil {
			t.Errorf("name %q was taken", bad)
		}
	}
}

// errAny stands for some error in a table.
var errAny = errors.New("some error")

func TestUpdateRefsIsAllOrNothing(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	one, two := p.commit("one"), p.commit("two")
	repo := open(t, newRunner(t), p.gitDir())
	err := repo.UpdateRefs(t.Context(),
		RefUpdate{Name: "refs/heads/a", To: one, From: Zero},
		RefUpdate{Name: "refs/heads/main", To: one, From: one})
	if !errors.Is(err, ErrRefMoved) {
		t.Errorf("got %v, want ErrRefMoved", err)
	}
	if _, err := repo.Ref(t.Context(), "refs/heads/a"); !errors.Is(err, ErrNotFound) {
		t.Errorf("first half was kept: %v", err)
	}
	if oid, _ := repo.Ref(t.Context(), "refs/heads/main"); oid != two {
		t.Errorf("main is %s", oid)
	}
}

func TestHeadWithoutCommitOrBranch(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	empty := bare(t, r)
	if branch, oid, err := empty.Head(t.Context()); err != nil || branch != "main" || oid != Zero {
		t.Errorf("unborn: %q, %q, %v", branch, oid, err)
	}
	if err := empty.SetHead(t.Context(), "other/branch"); err != nil {
		t.Error(err)
	}
	if branch, _, err := empty.Head(t.Context()); err != nil || branch != "other/branch" {
		t.Errorf("after SetHead: %q, %v", branch, err)
	}
	p := workTree(t)
	c := p.commit("c")
	p.run("checkout", "-q", "--detach")
	if branch, oid, err := open(t, r, p.gitDir()).Head(t.Context()); err != nil || branch != "" || oid != c {
		t.Errorf("detached: %q, %q, %v", branch, oid, err)
	}
}

func TestAncestry(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	root := p.commit("root")
	left := p.commit("left")
	p.run("checkout", "-q", "-b", "side", string(root))
	right := p.commit("right")
	p.run("checkout", "-q", "--orphan", "lone")
	lone := p.commit("lone")
	repo := open(t, newRunner(t), p.gitDir())
	absent := OID(strings.Repeat("1", 40))
	for _, c := range []struct {
		a, b     OID
		ancestor bool
		base     OID
		want     error
	}{
		{root, left, true, root, nil},
		{left, root, false, root, nil},
		{left, right, false, root, nil},
		{left, lone, false, "", nil},
		{absent, left, false, "", ErrNotFound},
		{left, "--all", false, "", ErrRefused},
	} {
		got, err := repo.IsAncestor(t.Context(), c.a, c.b)
		if got != c.ancestor || !errors.Is(err, c.want) {
			t.Errorf("IsAncestor(%s, %s) = %v, %v", c.a, c.b, got, err)
		}
		base, err := repo.MergeBase(t.Context(), c.a, c.b)
		if base != c.base || (c.base == "") != (err != nil) {
			t.Errorf("MergeBase(%s, %s) = %q, %v", c.a, c.b, base, err)
		}
	}
}

func TestLog(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	var all []OID
	for _, m := range []string{"one", "two", "three"} {
		all = append([]OID{p.commit(m)}, all...)
	}
	repo := open(t, newRunner(t), p.gitDir())
	list := func(o LogOptions) (oids []OID) {
		t.Helper()
		err := repo.Log(t.Context(), o, func(c Commit) error { oids = append(oids, c.OID); return nil })
		if err != nil {
			t.Error(err)
		}
		return oids
	}
	if diff := cmp.Diff(all, list(LogOptions{Tip: all[0]})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[:1], list(LogOptions{Tip: all[0], Max: 1})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(all[:2], list(LogOptions{Tip: all[0], Not: []OID{all[2], Zero}})); diff != "" {
		t.Error(diff)
	}
	err := repo.Log(t.Context(), LogOptions{Tip: OID(strings.Repeat("1", 40))}, func(Commit) error { return nil })
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("absent tip: %v", err)
	}
}

func TestAbsentTree(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	absent := OID(strings.Repeat("1", 40))
	none := func(TreeEntry) error { return nil }
	if err := repo.Tree(t.Context(), absent, none); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent: %v", err)
	}
	if err := repo.Tree(t.Context(), "HEAD", none); !errors.Is(err, ErrRefused) {
		t.Errorf("no id: %v", err)
	}
	if err := repo.Tree(t.Context(), Zero, none); err != nil {
		t.Errorf("Zero: %v", err)
	}
	if err := repo.Diff(t.Context(), Zero, absent, func(Change) error { return nil }); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent diff: %v", err)
	}
	if _, err := repo.Commit(t.Context(), absent); !errors.Is(err, ErrNotFound) {
		t.Errorf("absent commit: %v", err)
	}
}

func TestNewChecksGit(t *testing.T) {
	t.Parallel()
	if _, err := New(t.Context(), Options{Binary: "/nowhere/git"}); err == nil || !strings.Contains(err.Error(), "install git 2.39") {
		t.Errorf("absent git: %v", err)
	}
	old := script(t, "echo git version 2.20.1")
	if _, err := New(t.Context(), Options{Binary: old}); err == nil || !strings.Contains(err.Error(), "install git 2.39") {
		t.Errorf("old git: %v", err)
	}
	r := newRunner(t)
	want := strings.Fields(newPlain(t, t.TempDir()).run("version"))[2]
	if !strings.HasPrefix(want, r.Version()) {
		t.Errorf("Version = %q, want the start of %q", r.Version(), want)
	}
}

// script writes an executable shell script. No process may be forked while it
// is open for writing, or running it fails with "text file busy".
func script(t testing.TB, text string) string {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParseVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"git version 2.39.5\n":                  "2.39.5",
		"git version 2.39.5 (Apple Git-154)\n":  "2.39.5",
		"git version 2.45.0.windows.1":          "2.45.0",
		"git version 2.46.0-rc1":                "2.46.0",
		"git version 2.50.GIT":                  "2.50.0",
		"git version 3.0":                       "3.0.0",
		"git version 2.47.0.105.g1234567-dirty": "2.47.0",
	} {
		v, err := parseVersion(text)
		if err != nil || v.String() != want {
			t.Errorf("%q: %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"", "git version x", "hg 1.0", "git version 2.x.1"} {
		if _, err := parseVersion(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestCancelledBeforeStart(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := repo.Ref(ctx, "refs/heads/main"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := repo.Blob(ctx, Zero, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("standing process: got %v", err)
	}
}
