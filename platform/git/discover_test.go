package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	work := workTree(t)
	work.commit("c")
	root := real(t, work.dir)
	git := filepath.Join(root, ".git")
	linked := filepath.Join(real(t, t.TempDir()), "linked")
	work.run("worktree", "add", "-q", linked, "-b", "other")
	clone := filepath.Join(real(t, t.TempDir()), "clone")
	work.run("clone", "-q", "--bare", "--shared", ".", clone)
	shallow := filepath.Join(real(t, t.TempDir()), "shallow")
	work.commit("d")
	work.run("clone", "-q", "--depth=1", "file://"+work.dir, shallow)

	objects := func(dirs ...string) []string { return dirs }
	for name, c := range map[string]struct {
		folder string
		want   Folder
	}{
		"work tree": {root, Folder{GitDir: git, CommonDir: git, ObjectDirs: objects(git + "/objects"), WorkTree: root}},
		"its .git":  {git, Folder{GitDir: git, CommonDir: git, ObjectDirs: objects(git + "/objects"), WorkTree: root}},
		"linked work tree": {linked, Folder{
			GitDir: git + "/worktrees/linked", CommonDir: git, ObjectDirs: objects(git + "/objects"), WorkTree: linked,
		}},
		"bare, borrowing": {clone, Folder{
			GitDir: clone, CommonDir: clone, ObjectDirs: objects(clone+"/objects", git+"/objects"), Bare: true,
		}},
		"shallow": {shallow, Folder{
			GitDir: shallow + "/.git", CommonDir: shallow + "/.git", ObjectDirs: objects(shallow + "/.git/objects"),
			WorkTree: shallow, Shallow: true, ShallowFile: shallow + "/.git/shallow",
		}},
	} {
		c.want.Format, c.want.ObjectFormat = "files", "sha1"
		got, err := r.Discover(t.Context(), c.folder)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	repo := open(t, r, git+"/worktrees/linked")
	if branch, oid, err := repo.Head(t.Context()); err != nil || branch != "other" || oid == Zero {
		t.Errorf("Head of a linked work tree = %q, %q, %v", branch, oid, err)
	}
}

// real is a path without symbolic links, as Discover gives them.
func real(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestDiscoverRefuses(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	work := workTree(t)
	work.write("sub/x", "x")
	work.commit("c")
	pipe := t.TempDir()
	for _, dir := range []string{"objects", "refs"} {
		if err := os.Mkdir(filepath.Join(pipe, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(pipe, "HEAD"), 0o600); err != nil {
		t.Fatal(err)
	}
	stray := newPlain(t, t.TempDir())
	stray.write(".git", "gitdir: /nowhere\n")
	odd := newPlain(t, t.TempDir())
	odd.write(".git", strings.Repeat("gitdir: x", 2000))
	for name, dir := range map[string]string{
		"empty folder":              t.TempDir(),
		"folder inside a work tree": filepath.Join(work.dir, "sub"),
		"HEAD is a pipe":            pipe,
		".git names nothing":        stray.dir,
		".git is a large file":      odd.dir,
	} {
		if _, err := r.Discover(t.Context(), dir); !errors.Is(err, ErrNotRepository) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := r.Discover(t.Context(), filepath.Join(work.dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent folder: %v", err)
	}
}

func TestDiscoverFormats(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	work := workTree(t)
	work.run("config", "core.repositoryformatversion", "1")
	work.run("config", "extensions.refStorage", "reftable")
	r.version = version{2, 44, 9}
	f, err := r.Discover(t.Context(), work.dir)
	if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "2.45.0 or newer") || f.Format != "reftable" {
		t.Errorf("git before 2.45: %+v, %v", f, err)
	}
	r.version = version{2, 45, 0}
	if f, err := r.Discover(t.Context(), work.dir); err != nil || f.Format != "reftable" {
		t.Errorf("git 2.45: %+v, %v", f, err)
	}
	hash := newPlain(t, t.TempDir())
	hash.run("init", "-q", "--object-format=sha256")
	if f, err := r.Discover(t.Context(), hash.dir); err != nil || f.ObjectFormat != "sha256" {
		t.Errorf("sha256: %+v, %v", f, err)
	}
}

func TestSHA256IsRead(t *testing.T) {
	t.Parallel()
	p := newPlain(t, t.TempDir())
	p.run("init", "-q", "--object-format=sha256", "-b", "main")
	p.write("a.md", "a\n")
	c := p.commit("c")
	repo := open(t, newRunner(t), p.gitDir())
	if got := listDiff(t, repo, Zero, c); len(got) != 1 || got[0].Path != "a.md" || !got[0].OldOID.IsZero() {
		t.Errorf("Diff = %v", got)
	}
	if got, err := repo.Commit(t.Context(), c); err != nil || got.Subject != "c" || len(got.Tree) != 64 {
		t.Errorf("Commit = %+v, %v", got, err)
	}
}

func TestInitBare(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	work := workTree(t)
	work.write("a.md", "borrowed\n")
	c := work.commit("c")
	dir := filepath.Join(t.TempDir(), "deep", "hub.git")
	for range 2 { // the second time it is there already
		repo, err := r.InitBare(t.Context(), dir, "trunk", filepath.Join(work.gitDir(), "objects"))
		if err != nil {
			t.Fatal(err)
		}
		if branch, _, err := repo.Head(t.Context()); err != nil || branch != "trunk" {
			t.Errorf("Head = %q, %v", branch, err)
		}
		if data, err := repo.Blob(t.Context(), BlobOID([]byte("borrowed\n")), 100); err != nil || string(data) != "borrowed\n" {
			t.Errorf("borrowed blob: %q, %v", data, err)
		}
		if err := repo.UpdateRef(t.Context(), "refs/heads/trunk", c, Zero); err != nil && !errors.Is(err, ErrRefMoved) {
			t.Error(err)
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"relative", "/a\nb"} {
		if _, err := r.InitBare(t.Context(), t.TempDir(), "main", bad); !errors.Is(err, ErrRefused) {
			t.Errorf("alternate %q: %v", bad, err)
		}
	}
	if _, err := r.InitBare(t.Context(), t.TempDir(), "bad\nname"); !errors.Is(err, ErrRefused) {
		t.Errorf("branch name: %v", err)
	}
}
