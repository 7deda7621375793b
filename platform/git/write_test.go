package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ann is a signature as newPlain's environment states it.
func ann() Signature {
	return Signature{"Ann Author", "ann@example.org", time.Unix(1700000000, 0).In(time.FixedZone("", 19800))}
}

func carl() Signature {
	return Signature{"Carl Committer", "carl@example.org", time.Unix(1700000100, 0).In(time.FixedZone("", -7200))}
}

// TestWrittenObjectsAreGits writes the same history with git and with this
// package; equal ids mean equal bytes.
func TestWrittenObjectsAreGits(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	p.write("a.md", "one\n")
	p.write("a/b.md", "two\n")
	p.write("a.b/c", "three\n")
	p.write("a0", "four\n")
	p.write("ü/\t.md", "five\n")
	if err := os.Chmod(filepath.Join(p.dir, "a0"), 0o755); err != nil {
		t.Fatal(err)
	}
	first := p.commit("Add all")
	p.run("rm", "-q", "-r", "ü", "a/b.md")
	p.write("a", "now a file\n")
	p.write("a0", "more\n")
	second := p.commit("Change\n\nsome")

	repo := bare(t, newRunner(t))
	got := writeCommit(t, repo, Zero, "Add all\n", []FileChange{
		{Path: "a.md", Data: []byte("one\n")},
		{Path: "a/b.md", Data: []byte("two\n")},
		{Path: "a.b/c", Data: []byte("three\n")},
		{Path: "a0", Data: []byte("four\n"), Mode: ModeExecutable},
		{Path: "ü/\t.md", Data: []byte("five\n")},
	})
	if got != first {
		t.Errorf("first commit is %s, git's %s", got, first)
	}
	got = writeCommit(t, repo, first, "Change\n\nsome\n", []FileChange{
		{Path: "ü/\t.md", Delete: true},
		{Path: "a/b.md", Delete: true},
		{Path: "a", Data: []byte("now a file\n")},
		{Path: "a0", Data: []byte("more\n")},
	})
	if got != second {
		t.Errorf("second commit is %s, git's %s", got, second)
	}
	if err := repo.UpdateRef(t.Context(), "refs/heads/main", got, Zero); err != nil {
		t.Error(err)
	}
	judge := newPlain(t, repo.Dir())
	if text := judge.run("fsck", "--strict", "--full"); text != "" {
		t.Errorf("fsck: %s", text)
	}
	err := filepath.Walk(filepath.Join(repo.Dir(), "objects"), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm() != 0o444 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func writeCommit(t testing.TB, repo *Repo, parent OID, message string, changes []FileChange) OID {
	t.Helper()
	tree, err := repo.WriteFiles(t.Context(), parent, changes)
	if err != nil {
		t.Fatal(err)
	}
	spec := CommitSpec{Tree: tree, Author: ann(), Committer: carl(), Message: message}
	if parent != Zero {
		spec.Parents = []OID{parent}
	}
	oid, err := repo.WriteCommit(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return oid
}

func TestWriteFiles(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	base := writeCommit(t, repo, Zero, "base\n", []FileChange{
		{Path: "f", Data: []byte("f")},
		{Path: "x", Data: []byte("x"), Mode: ModeExecutable},
		{Path: "link", Data: []byte("f"), Mode: ModeSymlink},
		{Path: "d/one", Data: []byte("1")},
		{Path: "d/e/two", Data: []byte("2")},
	})
	for name, c := range map[string]struct {
		changes []FileChange
		want    []string // "mode path content", nil: an error
		err     error
	}{
		"keeps the mode": {
			[]FileChange{{Path: "x", Data: []byte("y")}, {Path: "link", Data: []byte("x")}},
			[]string{"100644 d/e/two 2", "100644 d/one 1", "100644 f f", "120000 link x", "100755 x y"}, nil,
		},
		"moves by id": {
			[]FileChange{{Path: "d/e/two", Delete: true}, {Path: "n/two", OID: BlobOID([]byte("2"))}},
			[]string{"100644 d/one 1", "100644 f f", "120000 link f", "100644 n/two 2", "100755 x x"}, nil,
		},
		"folder becomes file": {
			[]FileChange{{Path: "d", Data: []byte("d")}, {Path: "d/one", Delete: true}, {Path: "d/e/two", Delete: true}},
			[]string{"100644 d d", "100644 f f", "120000 link f", "100755 x x"}, nil,
		},
		"file becomes folder": {
			[]FileChange{{Path: "f/g", Data: []byte("g")}, {Path: "f", Delete: true}},
			[]string{"100644 d/e/two 2", "100644 d/one 1", "100644 f/g g", "120000 link f", "100755 x x"}, nil,
		},
		"all gone": {
			[]FileChange{{Path: "f", Delete: true}, {Path: "x", Delete: true}, {Path: "link", Delete: true}, {Path: "d/one", Delete: true}, {Path: "d/e/two", Delete: true}},
			[]string{}, nil,
		},
		"nothing":                   {nil, []string{"100644 d/e/two 2", "100644 d/one 1", "100644 f f", "120000 link f", "100755 x x"}, nil},
		"case is a name of its own": {[]FileChange{{Path: "F", Data: []byte("F")}}, []string{"100644 F F", "100644 d/e/two 2", "100644 d/one 1", "100644 f f", "120000 link f", "100755 x x"}, nil},
		"file over folder":          {[]FileChange{{Path: "d", Data: []byte("d")}}, nil, ErrPathTaken},
		"file over part of folder":  {[]FileChange{{Path: "d", Data: []byte("d")}, {Path: "d/one", Delete: true}}, nil, ErrPathTaken},
		"below a file":              {[]FileChange{{Path: "f/g", Data: []byte("g")}}, nil, ErrPathTaken},
		"delete what is not there":  {[]FileChange{{Path: "g", Delete: true}}, nil, ErrNotFound},
		"delete below nothing":      {[]FileChange{{Path: "g/h", Delete: true}}, nil, ErrNotFound},
		"delete a folder":           {[]FileChange{{Path: "d", Delete: true}}, nil, ErrNotFound},
		"twice":                     {[]FileChange{{Path: "n"}, {Path: "n"}}, nil, ErrRefused},
		"mode of a submodule":       {[]FileChange{{Path: "n", Mode: ModeSubmodule}}, nil, ErrRefused},
	} {
		tree, err := repo.WriteFiles(t.Context(), base, c.changes)
		if !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", name, err, c.err)
		}
		if err != nil {
			continue
		}
		if diff := cmp.Diff(c.want, contents(t, repo, tree)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func contents(t testing.TB, repo *Repo, tree OID) []string {
	t.Helper()
	list := []string{}
	for _, e := range listTree(t, repo, tree) {
		data, err := repo.Blob(t.Context(), e.OID, 1000)
		if err != nil {
			t.Error(err)
		}
		list = append(list, fmt.Sprintf("%06o %s %s", e.Mode, e.Path, data))
	}
	return list
}

func TestWriteFilesRefusesNames(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	for _, path := range []string{
		"", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", ".git", ".GIT/config", "a/.git/hooks/x", "git~1", "GIT~1/x",
		".git ", ".git.", ".git. .", ".git::$INDEX_ALLOCATION", ".g\u200cit", "a\x00b", strings.Repeat("x", 5000),
	} {
		if _, err := repo.WriteFiles(t.Context(), Zero, []FileChange{{Path: path, Data: []byte("x")}}); !errors.Is(err, ErrRefused) {
			t.Errorf("path %.40q: %v", path, err)
		}
	}
	for _, path := range []string{".gitignore", ".github/x", "-x", "a\nb", "\xff", " a", "..a", "git~2"} {
		if _, err := repo.WriteFiles(t.Context(), Zero, []FileChange{{Path: path, Data: []byte("x")}}); err != nil {
			t.Errorf("path %q: %v", path, err)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	repo := bare(t, r)
	blob, err := repo.WriteBlob(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	twice := []TreeEntry{{Mode: ModeFile, OID: blob, Path: "a"}, {Mode: ModeFolder, OID: blob, Path: "a"}}
	for name, entries := range map[string][]TreeEntry{
		"twice": twice, "mode": {{Mode: 0o100600, OID: blob, Path: "a"}}, "id": {{Mode: ModeFile, OID: Zero, Path: "a"}},
		"slash": {{Mode: ModeFile, OID: blob, Path: "a/b"}},
	} {
		if _, err := repo.WriteTree(t.Context(), entries); !errors.Is(err, ErrRefused) {
			t.Errorf("tree with %s: %v", name, err)
		}
	}
	good := CommitSpec{Tree: emptyTree, Author: ann(), Committer: carl(), Message: "m"}
	for name, change := range map[string]func(*CommitSpec){
		"no tree":     func(c *CommitSpec) { c.Tree = "" },
		"zero parent": func(c *CommitSpec) { c.Parents = []OID{Zero} },
		"no name":     func(c *CommitSpec) { c.Author.Name = " <> " },
		"no time":     func(c *CommitSpec) { c.Committer.When = time.Time{} },
		"NUL":         func(c *CommitSpec) { c.Message = "a\x00b" },
	} {
		spec := good
		change(&spec)
		if _, err := repo.WriteCommit(t.Context(), spec); !errors.Is(err, ErrRefused) {
			t.Errorf("commit with %s: %v", name, err)
		}
	}
	good.Author.Name, good.Author.Email = "A\n<B>\ncommitter X", "a@b>\nparent 1"
	oid, err := repo.WriteCommit(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := repo.Commit(t.Context(), oid); err != nil || c.Author.Name != "ABcommitter X" || c.Author.Email != "a@bparent 1" || len(c.Parents) != 0 {
		t.Errorf("cleaned author = %+v, %v", c, err)
	}
	hash := newPlain(t, t.TempDir())
	hash.run("init", "-q", "--object-format=sha256")
	if _, err := open(t, r, hash.gitDir()).WriteBlob(t.Context(), nil); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), "sha256") {
		t.Errorf("sha256: %v", err)
	}
}

// TestRewriteKeepsStrangers checks that what a change does not touch stays,
// however odd it is.
func TestRewriteKeepsStrangers(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	blob, err := repo.WriteBlob(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	odd := []TreeEntry{
		{Mode: ModeFile, OID: blob, Path: ".GIT"},
		{Mode: ModeFile, OID: blob, Path: ".."},
		{Mode: 0o100664, OID: blob, Path: "old"},
		{Mode: ModeSubmodule, OID: OID(strings.Repeat("1", 40)), Path: "sub"},
	}
	data, err := encodeTree(odd)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.writeObject(t.Context(), "tree", data)
	if err != nil {
		t.Fatal(err)
	}
	next, err := repo.WriteFiles(t.Context(), tree, []FileChange{{Path: "new", OID: blob}, {Path: "sub", OID: blob}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := repo.readLevel(t.Context(), next)
	want := map[string]TreeEntry{
		".GIT": odd[0], "..": odd[1], "old": odd[2],
		"sub": {Mode: ModeFile, OID: blob, Path: "sub"}, "new": {Mode: ModeFile, OID: blob, Path: "new"},
	}
	for name, e := range want {
		e.Type, e.Size = "blob", -1
		want[name] = e
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func FuzzParseTree(f *testing.F) {
	f.Add([]byte("100644 a\x00" + strings.Repeat("\x01", 20)))
	f.Add([]byte("40000 a b\x00" + strings.Repeat("\x01", 20) + "120000 \x00" + strings.Repeat("\x02", 20)))
	f.Add([]byte("100644 a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data, 20)
		if err != nil {
			return
		}
		again, err := encodeTree(entries)
		if err != nil {
			t.Fatal(err)
		}
		sorted, err := parseTree(again, 20)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := encodeTree(sorted)
		if err != nil || string(twice) != string(again) || len(sorted) != len(entries) {
			t.Errorf("%d entries became %d, %v", len(entries), len(sorted), err)
		}
	})
}

// BenchmarkCommit measures one small commit in a tree of 10,000 files: two
// blobs, three levels of trees, the commit and the move of the branch.
func BenchmarkCommit(b *testing.B) {
	repo := bare(b, newRunner(b))
	var stream strings.Builder
	stream.WriteString("commit refs/heads/main\ncommitter A <a> 1 +0000\ndata 0\n")
	for i := range 10_000 {
		text := fmt.Sprintf("note %d", i)
		fmt.Fprintf(&stream, "M 644 inline %02d/%02d/%d.md\ndata %d\n%s\n", i%20, i/20%25, i, len(text), text)
	}
	newPlain(b, repo.Dir()).input(stream.String(), "fast-import", "--quiet")
	_, tip, err := repo.Head(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := range b.N {
		next := writeCommit(b, repo, tip, "edit\n", []FileChange{
			{Path: "01/01/21.md", Data: fmt.Appendf(nil, "text %d", i)},
			{Path: "05/07/145.md", Data: fmt.Appendf(nil, "other text %d", i)},
		})
		if err := repo.UpdateRef(b.Context(), "refs/heads/main", next, tip); err != nil {
			b.Fatal(err)
		}
		tip = next
	}
}
