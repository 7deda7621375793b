package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRefs(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	one := p.commit("one")
	p.run("tag", "-a", "-m", "tag", "v1")
	p.run("branch", "deep/er")
	_ = os.WriteFile(filepath.Join(p.gitDir(), "refs/heads/broken"), []byte(strings.Repeat("1", 40)+"\n"), 0o600)
	repo := open(t, newRunner(t), p.gitDir())
	tag := OID(p.run("rev-parse", "v1"))
	for prefix, want := range map[string]map[string]OID{
		"refs/": {
			"refs/heads/main": one, "refs/heads/deep/er": one, "refs/tags/v1": tag,
			"refs/heads/broken": OID(strings.Repeat("1", 40)),
		},
		"refs/tags/":       {"refs/tags/v1": tag},
		"refs/heads/deep/": {"refs/heads/deep/er": one},
		"refs/none/":       {},
	} {
		got, err := repo.Refs(t.Context(), prefix)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", prefix, err, diff)
		}
	}
	if _, err := repo.Refs(t.Context(), "--all"); !errors.Is(err, ErrRefused) {
		t.Errorf("an option: %v", err)
	}
}

func TestObjectAndEntries(t *testing.T) {
	t.Parallel()
	repo, tip := filled(t, newRunner(t))
	o, err := repo.Object(t.Context(), tip, 4)
	if err != nil || o.Kind != "commit" || string(o.Data) != "tree" || o.Size < 100 {
		t.Errorf("Object = %+v, %v", o, err)
	}
	c, err := repo.Commit(t.Context(), tip)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := repo.Entries(t.Context(), c.Tree)
	if err != nil || len(entries) != 6 || entries[5].Path != "two.md" || entries[5].OID != BlobOID([]byte("two")) {
		t.Errorf("Entries = %+v, %v", entries, err)
	}
	if _, err := repo.Entries(t.Context(), tip); !errors.Is(err, ErrNotFound) {
		t.Errorf("Entries of a commit: %v", err)
	}
}

// changesFixture has a root, an edit, a commit without changes, a merge and a
// rename.
func changesFixture(t testing.TB) (p plain, commits []OID) {
	t.Helper()
	p = workTree(t)
	p.write("a.md", strings.Repeat("line\n", 20))
	p.write("b.md", "b\n")
	p.write("bin", "\x00\x01")
	root := p.commit("root")
	p.write("a.md", strings.Repeat("line\n", 19)+"other\n")
	p.write("new\nline", "n\n")
	edit := p.commit("edit")
	empty := p.commit("empty")
	p.run("checkout", "-q", "-b", "side", string(root))
	p.write("side.md", "s\n")
	side := p.commit("side")
	p.run("checkout", "-q", "main")
	p.run("merge", "-q", "--no-ff", "-m", "merge", "side")
	merge := OID(p.run("rev-parse", "HEAD"))
	p.run("mv", "a.md", "c.md")
	p.write("bin", "\x00\x02")
	move := p.commit("move")
	return p, []OID{move, merge, side, empty, edit, root}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	p, commits := changesFixture(t)
	repo := open(t, newRunner(t), p.gitDir())
	var got []string
	err := repo.Changes(t.Context(), commits, func(i int, c Change) error {
		got = append(got, fmt.Sprintf("%d %c %s", i, c.Status, c.Path))
		return nil
	})
	want := []string{
		"0 D a.md", "0 M bin", "0 A c.md", "1 A side.md", "2 A side.md", "4 M a.md", "4 A new\nline",
		"5 A a.md", "5 A b.md", "5 A bin",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	stop := errors.New("enough")
	if err := repo.Changes(t.Context(), commits, func(int, Change) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("callback's error: %v", err)
	}
}

func TestStat(t *testing.T) {
	t.Parallel()
	p, commits := changesFixture(t)
	repo := open(t, newRunner(t), p.gitDir())
	show := func(files []FileStat) (list []string) {
		for _, f := range files {
			list = append(list, fmt.Sprintf("%c %s<%s +%d -%d", f.Status, f.Path, f.Old, f.Added, f.Removed))
		}
		return list
	}
	root, move := commits[5], commits[0]
	files, more, err := repo.Stat(t.Context(), root, move, 10)
	want := []string{"M bin< +0 -0", "R c.md<a.md +1 -1", "A new\nline< +1 -0", "A side.md< +1 -0"}
	if diff := cmp.Diff(want, show(files)); err != nil || more || diff != "" {
		t.Error(err, more, diff)
	}
	files, more, err = repo.Stat(t.Context(), root, move, 2)
	if diff := cmp.Diff(want[:2], show(files)); err != nil || !more || diff != "" {
		t.Error(err, more, diff)
	}
	files, _, err = repo.Stat(t.Context(), Zero, root, 10)
	if diff := cmp.Diff([]string{"A a.md< +20 -0", "A b.md< +1 -0", "A bin< +0 -0"}, show(files)); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestIdentity(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	r := newRunner(t)
	f, err := r.Discover(t.Context(), p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if name, email, err := r.Identity(t.Context(), f); err != nil || name != "" || email != "" {
		t.Errorf("without settings: %q %q %v", name, email, err)
	}
	p.run("config", "user.name", "Ann = \"A\"; x")
	p.run("config", "user.email", "ann@example.org")
	if name, email, err := r.Identity(t.Context(), f); err != nil || name != "Ann = \"A\"; x" || email != "ann@example.org" {
		t.Errorf("%q %q %v", name, email, err)
	}
}
