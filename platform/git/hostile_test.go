package git

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// trap is a folder into which every command of a hostile repository writes a
// file of its own name.
type trap struct {
	t   testing.TB
	dir string
	cmd string
}

func newTrap(t testing.TB) trap {
	t.Helper()
	dir := t.TempDir()
	return trap{t: t, dir: dir, cmd: script(t, `: >"`+dir+`/$1"; cat >/dev/null 2>&1 </dev/null; exit 0`)}
}

// run is a shell command that springs the trap.
func (tr trap) run(name string) string { return tr.cmd + " " + name }

func (tr trap) sprung() []string {
	tr.t.Helper()
	entries, err := os.ReadDir(tr.dir)
	if err != nil {
		tr.t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

var allHooks = []string{
	"applypatch-msg", "fsmonitor-watchman", "post-checkout", "post-commit", "post-index-change", "post-merge",
	"post-receive", "post-rewrite", "post-update", "pre-auto-gc", "pre-commit", "pre-push", "pre-receive",
	"proc-receive", "push-to-checkout", "reference-transaction", "update",
}

// setTraps puts every way of running something that a repository has into one.
func setTraps(t testing.TB, gitDir string, tr trap) {
	t.Helper()
	p := newPlain(t, gitDir)
	hooks := t.TempDir()
	for _, dir := range []string{hooks, filepath.Join(gitDir, "hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, hook := range allHooks {
			text, err := os.ReadFile(tr.cmd)
			if err != nil {
				t.Fatal(err)
			}
			body := strings.Replace(string(text), "$1", "hook-"+hook, 1)
			syscallSafeWrite(t, filepath.Join(dir, hook), body)
		}
	}
	included := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(included, []byte("[log]\n\tshowSignature = true\n[diff]\n\texternal = "+tr.run("included")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	attributes := filepath.Join(t.TempDir(), "attributes")
	if err := os.WriteFile(attributes, []byte("* diff=evil filter=evil merge=evil\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	info := filepath.Join(gitDir, "info")
	if err := errors.Join(os.MkdirAll(info, 0o755), os.WriteFile(filepath.Join(info, "attributes"), []byte("* diff=evil filter=evil\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{
		"core.hooksPath": hooks, "core.attributesFile": attributes, "include.path": included,
		"core.fsmonitor": tr.run("fsmonitor"), "core.sshCommand": tr.run("ssh"), "core.pager": tr.run("pager"),
		"core.editor": tr.run("editor"), "core.askPass": tr.run("askpass"), "core.gitProxy": tr.run("gitproxy"),
		"core.alternateRefsCommand": tr.run("alternaterefs"), "credential.helper": "!" + tr.run("credential"),
		"diff.external": tr.run("external"), "diff.evil.textconv": tr.run("textconv"), "diff.evil.command": tr.run("diffcommand"),
		"filter.evil.clean": tr.run("clean"), "filter.evil.smudge": tr.run("smudge"), "filter.evil.process": tr.run("process"),
		"filter.evil.required": "true", "merge.evil.driver": tr.run("merge"), "gpg.program": tr.run("gpg"),
		"log.showSignature": "true", "uploadpack.packObjectsHook": tr.run("packobjects"), "sequence.editor": tr.run("sequence"),
		"pager.log": tr.run("pagerlog"), "pager.cat-file": tr.run("pagercat"), "pager.diff-tree": tr.run("pagerdiff"),
		"alias.cat-file": "!" + tr.run("alias"), "alias.upload-pack": "!" + tr.run("alias2"),
		"remote.origin.url": "ext::" + tr.run("remote"), "remote.origin.promisor": "true", "protocol.ext.allow": "always",
		"receive.procReceiveRefs": "refs", "gc.auto": "1", "gc.autoDetach": "false", "maintenance.auto": "true",
		"trailer.x.command": tr.run("trailer"), "submodule.sub.update": "!" + tr.run("submodule"), "submodule.recurse": "true",
		"diff.ignoreSubmodules": "all", "diff.renames": "copies", "diff.orderFile": "/nowhere", "core.abbrev": "7",
		"core.quotePath": "true", "core.logAllRefUpdates": "always", "mailmap.file": attributes,
		"color.ui": "always", "color.diff": "always", "log.decorate": "full", "i18n.logOutputEncoding": "UTF-16",
	} {
		p.run("config", key, value)
	}
}

// syscallSafeWrite writes an executable while no process is being forked.
func syscallSafeWrite(t testing.TB, path, text string) {
	t.Helper()
	from := script(t, strings.TrimPrefix(text, "#!/bin/sh\n"))
	if err := os.Rename(from, path); err != nil {
		t.Fatal(err)
	}
}

// hostile is a repository full of traps, and what it really holds.
type hostile struct {
	plain
	trap     trap
	old, tip OID
	paths    []string
}

func newHostile(t testing.TB) hostile {
	t.Helper()
	p := workTree(t)
	h := hostile{plain: p, trap: newTrap(t)}
	h.paths = []string{
		"-rf", "--help", "a\nb.md", "a\tb.md", "a\"b.md", "a\\b.md", "bad-\xff-utf8.md", "dir/HEAD", "plain.md", "ünï.md", " blank ", ".gitattributes",
		"link-abs", "link-up", ".gitmodules",
	}
	for _, path := range h.paths {
		if !strings.HasPrefix(path, "link") && path != ".gitmodules" {
			p.write(path, "old "+path)
		}
	}
	p.write(".gitattributes", "* diff=evil filter=evil merge=evil text eol=crlf working-tree-encoding=UTF-16\n*.md export-subst ident\n")
	p.write(".gitmodules", "[submodule \"sub\"]\n\tpath = sub\n\turl = ext::"+h.trap.run("gitmodules")+"\n\tupdate = !"+h.trap.run("update")+"\n")
	for name, target := range map[string]string{"link-abs": "/etc/passwd", "link-up": "../../../../etc/passwd"} {
		if err := os.Symlink(target, filepath.Join(p.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	h.old = h.record("old")
	p.write("plain.md", "new plain\n")
	h.tip = h.record("new")
	return h
}

// record commits the work tree with every file's bytes as they are.
func (h hostile) record(message string) OID {
	h.t.Helper()
	repo := open(h.t, newRunner(h.t), h.gitDir())
	changes := []FileChange{}
	for _, path := range h.paths {
		full := filepath.Join(h.dir, path)
		if target, err := os.Readlink(full); err == nil {
			changes = append(changes, FileChange{Path: path, Mode: ModeSymlink, Data: []byte(target)})
			continue
		}
		data, err := os.ReadFile(full)
		if err != nil {
			h.t.Fatal(err)
		}
		changes = append(changes, FileChange{Path: path, Data: data})
	}
	_, parent, err := repo.Head(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	oid := writeCommit(h.t, repo, parent, message+"\n", changes)
	if err := repo.UpdateRef(h.t.Context(), "refs/heads/main", oid, parent); err != nil {
		h.t.Fatal(err)
	}
	return oid
}

// TestHostileRepository reads, moves, serves and borrows from a repository that
// tries everything, and then shows that the traps are live.
func TestHostileRepository(t *testing.T) {
	t.Parallel()
	h := newHostile(t)
	r := newRunner(t)
	elsewhere, _ := filled(t, r)
	setTraps(t, elsewhere.Dir(), h.trap)
	alternates := filepath.Join(h.gitDir(), "objects", "info", "alternates")
	if err := os.WriteFile(alternates, []byte(elsewhere.Dir()+"/objects\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	setTraps(t, h.gitDir(), h.trap)
	repo := open(t, r, h.gitDir())

	t.Run("is read", func(t *testing.T) { readHostile(t, repo, h) })
	t.Run("is discovered", func(t *testing.T) {
		f, err := r.Discover(t.Context(), h.dir)
		if err != nil || f.WorkTree != real(t, h.dir) || len(f.ObjectDirs) != 2 {
			t.Errorf("%+v, %v", f, err)
		}
	})
	t.Run("is written", func(t *testing.T) {
		oid := writeCommit(t, repo, h.tip, "own\n", []FileChange{{Path: "own.md", Data: []byte("own")}})
		for _, u := range []RefUpdate{{"refs/heads/own", oid, Zero}, {"refs/heads/own", h.tip, oid}, {"refs/heads/own", Zero, h.tip}} {
			if err := repo.UpdateRef(t.Context(), u.Name, u.To, u.From); err != nil {
				t.Error(err)
			}
		}
		if err := repo.SetHead(t.Context(), "main"); err != nil {
			t.Error(err)
		}
	})
	t.Run("is borrowed from and served", func(t *testing.T) {
		own, err := r.InitBare(t.Context(), filepath.Join(t.TempDir(), "own.git"), "main", filepath.Join(h.gitDir(), "objects"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = own.Close() }()
		if err := own.UpdateRef(t.Context(), "refs/heads/main", h.tip, Zero); err != nil {
			t.Fatal(err)
		}
		serveHostile(t, own, h)
		pushHostile(t, own, h)
	})
	t.Run("is served itself", func(t *testing.T) { serveHostile(t, repo, h) })
	t.Run("is not fetched into", func(t *testing.T) {
		err := repo.Fetch(t.Context(), FetchOptions{URL: "https://127.0.0.1:1/x", Refspecs: []string{mainSpec}})
		if !errors.Is(err, ErrRefused) {
			t.Error(err)
		}
	})
	if names := h.trap.sprung(); len(names) != 0 {
		t.Errorf("the repository ran %q", names)
	}
	h.controls(t)
}

// controls runs ordinary git, which must fall into the traps: otherwise the
// test above would show nothing.
func (h hostile) controls(t *testing.T) {
	t.Helper()
	_, _ = h.try("", "status")
	_, _ = h.try("", "update-ref", "refs/heads/control", string(h.tip))
	inside := plain{t: t, dir: h.gitDir(), env: h.env}
	h.run("config", "--unset", "filter.evil.process") // it would stand for smudge
	show := []string{"--bare", "-c", "diff.orderFile=/dev/null", "diff", string(h.old), string(h.tip)}
	_, _ = inside.try("", show...)
	_, _ = inside.try("", append(show, "--no-ext-diff")...)
	_, _ = h.try("", "receive-pack", "--http-backend-info-refs", ".")
	_, _ = h.try("", "cat-file", "-p", strings.Repeat("1", 40))
	names := h.trap.sprung()
	for _, want := range []string{"fsmonitor", "hook-reference-transaction", "textconv", "diffcommand", "smudge", "alternaterefs", "remote"} {
		if !slices.Contains(names, want) {
			t.Errorf("ordinary git did not run %s, only %q: the trap is broken", want, names)
		}
	}
}

func readHostile(t *testing.T, repo *Repo, h hostile) {
	var got []string
	var oids []OID
	for _, e := range listTree(t, repo, h.tip) {
		got, oids = append(got, e.Path), append(oids, e.OID)
	}
	want := slices.Clone(h.paths)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	i := 0
	err := repo.Blobs(t.Context(), oids, 1000, func(b Blob) error {
		path := want[i]
		i++
		text, err := os.ReadFile(filepath.Join(h.dir, path))
		if target, isLink := os.Readlink(filepath.Join(h.dir, path)); isLink == nil {
			text, err = []byte(target), nil
		}
		if err != nil || string(text) != string(b.Data) {
			t.Errorf("%q: got %q, want %q (%v)", path, b.Data, text, err)
		}
		return nil
	})
	if err != nil || i != len(want) {
		t.Errorf("%d blobs, %v", i, err)
	}
	changes := listDiff(t, repo, h.old, h.tip)
	if len(changes) != 1 || changes[0].Path != "plain.md" || changes[0].Status != 'M' || len(changes[0].NewOID) != 40 {
		t.Errorf("Diff = %+v", changes)
	}
	if branch, oid, err := repo.Head(t.Context()); err != nil || branch != "main" || oid != h.tip {
		t.Errorf("Head = %q %q %v", branch, oid, err)
	}
	if c, err := repo.Commit(t.Context(), h.tip); err != nil || c.Subject != "new" {
		t.Errorf("Commit = %+v, %v", c, err)
	}
	files, _, err := repo.Stat(t.Context(), h.old, h.tip, 10)
	if err != nil || len(files) != 1 || files[0].Path != "plain.md" {
		t.Errorf("Stat = %+v, %v", files, err)
	}
	n := 0
	err = repo.Changes(t.Context(), []OID{h.tip, h.old}, func(int, Change) error { n++; return nil })
	if err != nil || n != 1+len(h.paths) {
		t.Errorf("Changes: %d, %v", n, err)
	}
	if refs, err := repo.Refs(t.Context(), "refs/heads/"); err != nil || refs["refs/heads/main"] != h.tip {
		t.Errorf("Refs = %v, %v", refs, err)
	}
	if ok, err := repo.IsAncestor(t.Context(), h.old, h.tip); err != nil || !ok {
		t.Errorf("IsAncestor = %v, %v", ok, err)
	}
	var log []OID
	if err := repo.Log(t.Context(), LogOptions{Tip: h.tip}, func(c Commit) error { log = append(log, c.OID); return nil }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]OID{h.tip, h.old}, log); diff != "" {
		t.Error(diff)
	}
}

// pushHostile pushes to a served repository and checks that git has no remarks
// for the client.
func pushHostile(t *testing.T, repo *Repo, h hostile) {
	srv := serve(t, repo, ServeOptions{Push: true})
	client := newPlain(t, t.TempDir())
	client.run("clone", "-q", "--bare", srv.withToken(), ".")
	if text, err := client.try("", "push", "origin", string(h.old)+":refs/heads/pushed"); err != nil || strings.Contains(text, "remote:") {
		t.Errorf("push: %v %s", err, text)
	}
	if got, err := repo.Ref(t.Context(), "refs/heads/pushed"); err != nil || got != h.old {
		t.Errorf("pushed %s, %v", got, err)
	}
}

// serveHostile clones from a served repository and tries to push.
func serveHostile(t *testing.T, repo *Repo, h hostile) {
	srv := serve(t, repo, ServeOptions{Push: true})
	client := newPlain(t, t.TempDir())
	client.run("clone", "-q", "--bare", srv.withToken(), "c.git")
	client.dir = filepath.Join(client.dir, "c.git")
	if got := client.run("rev-parse", "main"); got != string(h.tip) {
		t.Errorf("cloned %s", got)
	}
	// Where the repository asks for a hook that never runs, this fails.
	_, _ = client.try("", "push", "-q", "origin", string(h.old)+":refs/heads/tried")
	w := httptest.NewRecorder()
	repo.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/info/refs?service=git-receive-pack", nil), ServeOptions{Push: true})
	if w.Code != 200 {
		t.Errorf("status %d", w.Code)
	}
}

// TestWorkTreeElsewhere reads a repository whose settings name another folder
// as its work tree, with attributes in it.
func TestWorkTreeElsewhere(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	tr := newTrap(t)
	p.write("a.md", "a\n")
	root := p.commit("root")
	p.write("a.md", "b\n")
	tip := p.commit("tip")
	other := newPlain(t, t.TempDir())
	other.write(".gitattributes", "* diff=evil filter=evil\n")
	p.run("config", "diff.evil.textconv", tr.run("textconv"))
	p.run("config", "filter.evil.smudge", tr.run("smudge"))
	p.run("config", "core.worktree", other.dir)
	repo := open(t, newRunner(t), p.gitDir())
	if files, _, err := repo.Stat(t.Context(), root, tip, 10); err != nil || len(files) != 1 || files[0].Added != 1 {
		t.Errorf("Stat = %+v, %v", files, err)
	}
	if data, err := repo.Blob(t.Context(), BlobOID([]byte("b\n")), 10); err != nil || string(data) != "b\n" {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if got := tr.sprung(); len(got) != 0 {
		t.Errorf("the settings ran %q", got)
	}
}

// TestNothingStandsForObjects lets replace refs, grafts and a crafted commit
// graph lie about objects.
func TestNothingStandsForObjects(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	p.write("a.md", "true\n")
	one := p.commit("one")
	two := p.commit("two")
	p.write("a.md", "false\n")
	three := p.commit("three")
	p.run("replace", string(BlobOID([]byte("true\n"))), string(BlobOID([]byte("false\n"))))
	p.run("replace", "-f", string(one), string(three))
	p.write(".git/info/grafts", string(three)+"\n")
	p.write(".git/objects/info/commit-graph", "CGPH\x01\x01nonsense")
	repo := open(t, newRunner(t), p.gitDir())
	if data, err := repo.Blob(t.Context(), BlobOID([]byte("true\n")), 100); err != nil || string(data) != "true\n" {
		t.Errorf("Blob = %q, %v", data, err)
	}
	if c, err := repo.Commit(t.Context(), one); err != nil || c.Subject != "one" {
		t.Errorf("Commit = %+v, %v", c, err)
	}
	var log []OID
	if err := repo.Log(t.Context(), LogOptions{Tip: three}, func(c Commit) error { log = append(log, c.OID); return nil }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]OID{three, two, one}, log); diff != "" {
		t.Error(diff)
	}
	if ok, err := repo.IsAncestor(t.Context(), one, three); err != nil || !ok {
		t.Errorf("IsAncestor = %v, %v", ok, err)
	}
}

func TestOddRefs(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	one, two := p.commit("one"), p.commit("two")
	repo := open(t, newRunner(t), p.gitDir())
	names := []string{
		"refs/heads/-dash", "refs/heads/--all", "refs/heads/ü", "refs/heads/a'b\"c$(x)", "refs/heads/refs/heads/main",
		"refs/heads/HEAD", "refs/heads/x-g" + string(two)[:7], "refs/heads/" + string(two), "refs/odd/\xff",
	}
	for _, name := range names {
		if err := repo.UpdateRef(t.Context(), name, one, Zero); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, pack := range []bool{false, true} {
		if pack {
			p.run("pack-refs", "--all")
		}
		for _, name := range names {
			if oid, err := repo.Ref(t.Context(), name); err != nil || oid != one {
				t.Errorf("%q: %q, %v", name, oid, err)
			}
		}
	}
	// Names that git would complete or take for a revision are not there.
	for _, name := range []string{"refs/main", "refs/heads/y-g" + string(two)[:7], "refs/heads/main~0", "refs/heads/main^{tree}", "refs/heads/main:", "refs/heads/-dash~0"} {
		if oid, err := repo.Ref(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %q, %v", name, oid, err)
		}
	}
	for _, name := range names {
		if err := repo.UpdateRef(t.Context(), name, Zero, one); err != nil {
			t.Errorf("delete %q: %v", name, err)
		}
	}
}

// TestOddObjects reads trees and commits that git itself would not make.
func TestOddObjects(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	blob, err := repo.WriteBlob(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"..", ".GIT", ".git", ".git ", "a/b", "git~1", strings.Repeat("long", 5000)}
	var entries []TreeEntry
	for _, name := range names {
		entries = append(entries, TreeEntry{Mode: ModeFile, Type: "blob", OID: blob, Size: 1, Path: name})
	}
	entries = append(entries, TreeEntry{Mode: ModeSubmodule, Type: "commit", OID: blob, Size: -1, Path: "sub"})
	data, err := encodeTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.writeObject(t.Context(), "tree", data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(entries, listTree(t, repo, tree)); diff != "" {
		t.Error(diff)
	}
	if got := listDiff(t, repo, Zero, tree); len(got) != len(entries) {
		t.Errorf("Diff = %v", got)
	}
	// An entry that says file and is a folder does not stop the rest.
	liar, err := encodeTree([]TreeEntry{{Mode: ModeFile, OID: tree, Path: "liar"}, {Mode: ModeFile, OID: blob, Path: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if tree, err = repo.writeObject(t.Context(), "tree", liar); err != nil {
		t.Fatal(err)
	}
	var missing []bool
	var oids []OID
	for _, e := range listTree(t, repo, tree) {
		oids = append(oids, e.OID)
	}
	if err := repo.Blobs(t.Context(), oids, 100, func(b Blob) error { missing = append(missing, b.Missing); return nil }); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]bool{true, false}, missing); diff != "" {
		t.Error(diff)
	}
}

func TestHugeCommit(t *testing.T) {
	t.Parallel()
	repo := bare(t, newRunner(t))
	tree, err := repo.WriteTree(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	head := fmt.Sprintf("tree %s\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\nencoding x-nonsense\n\nS\xff\n\n", tree)
	var tip OID
	for range 2 { // past what is skipped, and within
		tip, err = repo.writeObject(t.Context(), "commit", []byte(head+strings.Repeat("ä", 3<<20)))
		if err != nil {
			t.Fatal(err)
		}
		c, err := repo.Commit(t.Context(), tip)
		if err != nil || c.Subject != "S\uFFFD" || len(c.Body) > 1<<20+2 || len(c.Body) < 1<<19 || !strings.HasPrefix(c.Body, "ää") {
			t.Errorf("subject %q, body of %d bytes, %v", c.Subject, len(c.Body), err)
		}
	}
	n := 0
	if err := repo.Log(t.Context(), LogOptions{Tip: tip}, func(c Commit) error { n += len(c.Body); return nil }); err != nil || n > 1<<20+2 {
		t.Errorf("Log: %d bytes, %v", n, err)
	}
}
