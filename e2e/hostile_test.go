package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trap makes a script that leaves a mark when anything runs it, and gives the
// folder where marks would be.
func trap(t *testing.T, dir string) (script, marks string) {
	t.Helper()
	marks = filepath.Join(dir, "marks")
	script = filepath.Join(dir, "trap.sh")
	if err := os.MkdirAll(marks, 0o777); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(marks, 0o777)
	text := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" > %s/$$\ncat\n", marks)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return script, marks
}

// marked lists what ran.
func marked(t *testing.T, marks string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(marks, "*"))
	if err != nil {
		t.Fatal(err)
	}
	var ran []string
	for _, f := range files {
		data, _ := os.ReadFile(f)
		ran = append(ran, string(data))
	}
	return ran
}

// TestAHostileFolderRunsAndLeaksNothing serves a folder whose settings, hooks,
// attributes, links and names all try to make git run or read something.
func TestAHostileFolderRunsAndLeaksNothing(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	script, marks := trap(t, dir)
	outside := filepath.Join(dir, "outside.md")
	write(t, dir, map[string]string{"outside.md": "outsideword\n"})
	folder := repository(t, filepath.Join(dir, "kb"), map[string]string{
		"a.md":           "insideword\n",
		".gitattributes": "* filter=evil diff=evil merge=evil text=auto\n",
		".gitmodules":    "[submodule \"m\"]\n\tpath = m\n\turl = ext::" + script + "\n",
	})
	write(t, folder, map[string]string{"git~1/x.md": "lookalike\n", ".GIT./y.md": "lookalike\n"})
	for _, link := range []struct{ target, name string }{
		{outside, "link.md"}, {"/etc", "etc"}, {"../outside.md", "up.md"},
	} {
		if err := os.Symlink(link.target, filepath.Join(folder, link.name)); err != nil {
			t.Fatal(err)
		}
	}
	git(t, folder, "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "add", "-A")
	git(t, folder, "update-index", "--add", "--cacheinfo", "160000,"+git(t, folder, "rev-parse", "HEAD")+",m")
	git(t, folder, "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false", "commit", "-q", "-m", "Links and a submodule")
	hooks := filepath.Join(folder, ".git", "hooks")
	for _, hook := range []string{
		"post-checkout", "post-commit", "post-update", "pre-receive", "update", "post-receive", "reference-transaction",
		"pre-auto-gc", "post-index-change", "fsmonitor-watchman", "proc-receive", "push-to-checkout",
	} {
		data, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(hooks, hook), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := fmt.Sprintf(`
[core]
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	alternateRefsCommand = %[1]s
	attributesFile = %[2]s/attributes
[uploadpack]
	packObjectsHook = %[1]s
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff "evil"]
	textconv = %[1]s
	command = %[1]s
[diff]
	external = %[1]s
[gpg]
	program = %[1]s
[credential]
	helper = !%[1]s
[include]
	path = %[2]s/more
[remote "origin"]
	url = ext::%[1]s
	uploadpack = %[1]s
	promisor = true
`, script, dir)
	write(t, dir, map[string]string{"more": "[core]\n\thooksPath = " + hooks + "\n"})
	f, err := os.OpenFile(filepath.Join(folder, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(config); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	d := startIn(t, dir, folder)
	c := d.Client()
	if answer, isError := text(c, "read_note", map[string]any{"repo": "kb", "path": "a.md"}); isError || !strings.Contains(answer, "insideword") {
		t.Errorf("a plain note: %s", answer)
	}
	for _, path := range []string{"link.md", "up.md", "etc/passwd", "m", "m/x.md", ".gitattributes", ".git/config"} {
		answer, isError := text(c, "read_note", map[string]any{"repo": "kb", "path": path})
		if !isError || strings.Contains(answer, "outsideword") || strings.Contains(answer, "root:") {
			t.Errorf("%s: %s", path, answer)
		}
	}
	for _, word := range []string{"outsideword", "root:x", "fsmonitor"} {
		if answer, _ := text(c, "search_notes", map[string]any{"query": word}); !strings.Contains(answer, `"matches":[]`) {
			t.Errorf("search for %s: %s", word, answer)
		}
	}
	// The branch moves without git of ours in the folder, as another clone's
	// push would move it.
	clone := cloneOf(t, dir, folder)
	before := len(marked(t, marks))
	write(t, clone, map[string]string{"b.md": "laterword\n"})
	git(t, clone, "add", "b.md")
	git(t, clone, "commit", "-q", "-m", "Later")
	copyObjects(t, filepath.Join(clone, ".git", "objects"), filepath.Join(folder, ".git", "objects"))
	head := git(t, clone, "rev-parse", "HEAD")
	if err := os.WriteFile(filepath.Join(folder, ".git", "refs", "heads", "main"), []byte(head+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	until(t, 10*time.Second, "the later note", func() bool {
		answer, _ := text(c, "search_notes", map[string]any{"query": "laterword"})
		return strings.Contains(answer, "b.md")
	})
	if err := d.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if ran := marked(t, marks); len(ran) > before {
		t.Errorf("something ran: %q", ran[before:])
	}
}

// cloneOf makes another work tree of a folder's history by copying its objects:
// git itself would fall into the folder's traps.
func cloneOf(t *testing.T, dir, folder string) string {
	t.Helper()
	clone := filepath.Join(dir, "clone")
	if err := os.MkdirAll(clone, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, clone, "init", "-q", "-b", "main")
	copyObjects(t, filepath.Join(folder, ".git", "objects"), filepath.Join(clone, ".git", "objects"))
	head, err := os.ReadFile(filepath.Join(folder, ".git", "refs", "heads", "main"))
	if err != nil {
		t.Fatal(err)
	}
	git(t, clone, "update-ref", "refs/heads/main", strings.TrimSpace(string(head)))
	git(t, clone, "config", "core.protectNTFS", "false")
	git(t, clone, "config", "core.protectHFS", "false")
	git(t, clone, "read-tree", "HEAD")
	return clone
}

// copyObjects copies loose objects and packs that the other store lacks.
func copyObjects(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if _, err := os.Stat(target); err == nil {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o444)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBorrowedObjectsAreRefused serves a folder that names another
// repository's objects as its own.
func TestBorrowedObjectsAreRefused(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	secret := repository(t, filepath.Join(dir, "secret"), map[string]string{"s.md": "secretword\n"})
	folder := repository(t, filepath.Join(dir, "kb"), map[string]string{"a.md": "a\n"})
	alternates := filepath.Join(folder, ".git", "objects", "info", "alternates")
	if err := os.MkdirAll(filepath.Dir(alternates), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(alternates, []byte(filepath.Join(secret, ".git", "objects")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := failing(t, "dev", folder, "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "d"))
	if !strings.Contains(out, "alternates") {
		t.Errorf("got %s", out)
	}
}
