package localhub_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"vault/platform/localhub"
)

// served asks the hub for a repository's branch and commit.
func (w *world) served(name string) string {
	w.t.Helper()
	data, errs := w.query(w.token(0), `query($n:String!){repository(owner:"acme",name:$n){defaultBranchRef{name target{oid}}}}`, map[string]any{"n": name})
	if len(errs) > 0 {
		w.t.Fatalf("errors %v", errs)
	}
	ref := at(data, "repository", "defaultBranchRef")
	if ref == nil {
		return ""
	}
	return at(ref, "name").(string) + " " + at(ref, "target", "oid").(string)
}

func (w *world) untilServed(name, want string) {
	w.t.Helper()
	until(w.t, "the hub to serve "+want, func() bool { return w.served(name) == want })
}

func TestFolderIsFollowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	one := k.commit("One", "a.md", "1")
	w.add("kb", k.dir)
	if got := w.served("kb"); got != "main "+one {
		t.Errorf("served %q", got)
	}
	w.run()

	two := k.commit("Two", "a.md", "2")
	w.untilServed("kb", "main "+two)
	e := w.hooks.wait(t, "push", 1)
	if at(e.body, "before") != one || at(e.body, "after") != two || at(e.body, "forced") != false || at(e.body, "commits", 0, "modified", 0) != "a.md" {
		t.Errorf("event %s", e.raw)
	}
	k.git("pack-refs", "--all")
	k.git("gc", "-q", "--prune=now")
	three := k.commit("Three", "b.md", "3")
	w.untilServed("kb", "main "+three)

	k.git("reset", "-q", "--hard", two)
	w.untilServed("kb", "main "+two)
	if e := w.hooks.wait(t, "push", 3); at(e.body, "forced") != true {
		t.Errorf("a reset is no forced push: %s", e.raw)
	}

	k.git("switch", "-q", "-c", "main-2/x")
	four := k.commit("Four", "c.md", "4")
	w.untilServed("kb", "main-2/x "+four)
	if e := w.hooks.wait(t, "repository", 1); at(e.body, "action") != "edited" || at(e.body, "changes", "default_branch", "from") != "main" {
		t.Errorf("event %s", e.raw)
	}
	if a := w.get("/repos/acme/kb/git/matching-refs/heads", w.token(0)); strings.Count(string(a.body), `"ref":`) != 1 {
		t.Errorf("refs %s", a.body)
	}
	k.git("switch", "-q", "-c", "x")
	k.git("branch", "-q", "-D", "main-2/x")
	k.git("switch", "-q", "-c", "main-2") // a name that needs the old one gone
	w.untilServed("kb", "main-2 "+four)
	if logs := w.logs.String(); logs != "" {
		t.Errorf("logs %s", logs)
	}
}

func TestDetachedHeadKeepsTheBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	one := k.commit("One", "a.md", "1")
	two := k.commit("Two", "a.md", "2")
	w.add("kb", k.dir)
	stop := w.run()
	k.git("switch", "-q", "--detach", one)
	k.git("branch", "-q", "-f", "main", one) // seen although HEAD stays as it is
	w.untilServed("kb", "main "+one)
	k.git("switch", "-q", "main")
	k.git("reset", "-q", "--hard", two)
	w.untilServed("kb", "main "+two)

	// A start in the middle of a rebase goes on with what was served.
	k.git("switch", "-q", "--detach", one)
	stop()
	if err := w.hub.Close(); err != nil {
		t.Fatal(err)
	}
	w.open()
	w.add("kb", k.dir)
	if got := w.served("kb"); got != "main "+two {
		t.Errorf("served %q", got)
	}

	fresh := newWork(t)
	fresh.git("switch", "-q", "--detach", fresh.commit("One"))
	_, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "other", Folder: fresh.dir})
	if err == nil || !strings.Contains(err.Error(), "detached") || !strings.Contains(err.Error(), "switch") {
		t.Errorf("error %v", err)
	}
}

func TestEmptyFolderFillsUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	r := w.add("kb", k.dir)
	data, _ := w.query(w.token(0), `{repository(owner:"acme",name:"kb"){isEmpty}}`, nil)
	if at(data, "repository", "isEmpty") != true || r.DefaultBranch != "main" {
		t.Errorf("data %v, repository %v", data, r)
	}
	w.run()
	k.git("symbolic-ref", "HEAD", "refs/heads/trunk")
	until(t, "the new name", func() bool { return w.hub.Repositories()[0].DefaultBranch == "trunk" })
	one := k.commit("One", "a.md", "1")
	w.untilServed("kb", "trunk "+one)
	if e := w.hooks.wait(t, "push", 1); at(e.body, "created") != true || at(e.body, "ref") != "refs/heads/trunk" {
		t.Errorf("event %s", e.raw)
	}
	k.git("switch", "-q", "--orphan", "blank")
	k.git("switch", "-q", "trunk")
	two := k.commit("Two", "a.md", "2")
	w.untilServed("kb", "trunk "+two)
}

func TestFormsOfFolders(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.commit("One", "a.md", "1")
	head := k.commit("Two", "a.md", "2")
	k.git("worktree", "add", "-q", "-b", "side", "../linked")
	linked := filepath.Join(filepath.Dir(k.dir), "linked")
	bare := filepath.Join(t.TempDir(), "bare.git")
	k.git("clone", "-q", "--bare", k.dir, bare)
	shallow := filepath.Join(t.TempDir(), "shallow")
	k.git("clone", "-q", "--depth=1", "file://"+k.dir, shallow)
	for name, folder := range map[string]string{"linked": linked, "bare": bare, "shallow": shallow} {
		w.add(name, folder)
		want := map[bool]string{true: "side ", false: "main "}[name == "linked"] + head
		if got := w.served(name); got != want {
			t.Errorf("%s: served %q, want %q", name, got, want)
		}
		k.git("clone", "-q", w.remote(name, w.token(0)), filepath.Join(t.TempDir(), name))
	}
	if a := w.get("/repos/acme/shallow/commits/main", w.token(0)); a.status != 200 || len(at(a.json(t), "files").([]any)) != 1 {
		t.Errorf("the cut-off commit answered %d %s", a.status, a.body)
	}
	w.run()
	side := &work{t: t, dir: linked, env: k.env}
	three := side.commit("Three", "b.md", "3")
	w.untilServed("linked", "side "+three)
	sh := &work{t: t, dir: shallow, env: k.env}
	four := sh.commit("Four", "b.md", "4")
	w.untilServed("shallow", "main "+four)
	if e := w.hooks.wait(t, "push", 2); at(e.body, "forced") != false {
		t.Errorf("event %s", e.raw)
	}
	sh.git("fetch", "-q", "--unshallow")
	five := sh.commit("Five", "b.md", "5")
	w.untilServed("shallow", "main "+five)
	if out := k.git("ls-remote", w.remote("shallow", w.token(0)), "main"); !strings.HasPrefix(out, five) {
		t.Errorf("refs %s", out)
	}
}

func TestFolderThatIsNoRepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := t.TempDir()
	_, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "kb", Folder: dir})
	if err == nil || !strings.Contains(err.Error(), "init") || !strings.Contains(err.Error(), "commit") {
		t.Errorf("error %v", err)
	}
	if _, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "kb", Folder: filepath.Join(dir, "nowhere")}); err == nil {
		t.Error("a missing folder was taken")
	}
	k := newWork(t)
	k.commit("One", "inside/a.md", "1")
	_, err = w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "kb", Folder: filepath.Join(k.dir, "inside")})
	if err == nil || !strings.Contains(err.Error(), "lies inside") {
		t.Errorf("error %v", err)
	}
	if n := len(w.hub.Repositories()); n != 0 {
		t.Errorf("%d repositories are served", n)
	}
}

// TestFolderCannotBorrow serves what a stranger's archive might hold: folders
// that name another repository's objects as their own.
func TestFolderCannotBorrow(t *testing.T) {
	t.Parallel()
	secret := newWork(t)
	secret.commit("Secret", "s.md", "secret")
	git := filepath.Join(secret.dir, ".git")
	tests := map[string]func(k *work){
		"alternates": func(k *work) {
			k.write(".git/objects/info/alternates", filepath.Join(git, "objects")+"\n")
		},
		"relative alternates": func(k *work) { k.write(".git/objects/info/alternates", "../../../../x\n") },
		"objects elsewhere": func(k *work) {
			k.swap(".git/objects", filepath.Join(git, "objects"))
		},
		"packs elsewhere": func(k *work) {
			k.swap(".git/objects/pack", filepath.Join(git, "objects", "pack"))
		},
		"one pack elsewhere": func(k *work) {
			if err := k.link(filepath.Join(git, "objects", "pack", "x.pack"), ".git/objects/pack/x.pack"); err != nil {
				t.Fatal(err)
			}
		},
		"one object elsewhere": func(k *work) {
			k.write(".git/objects/ab/x", "")
			if err := k.link(filepath.Join(git, "objects", "ab", "y"), ".git/objects/ab/y"); err != nil {
				t.Fatal(err)
			}
		},
		"git file": func(k *work) { k.swap(".git", ""); k.write(".git", "gitdir: "+git+"\n") },
		"git link": func(k *work) { k.swap(".git", git) },
		"common folder": func(k *work) {
			k.write(".git/commondir", git+"\n")
		},
		"forged work tree": func(k *work) {
			k.swap(".git", "")
			k.write("fake/HEAD", "ref: refs/heads/main\n")
			k.write("fake/commondir", git+"\n")
			k.write("fake/gitdir", filepath.Join(k.dir, ".git")+"\n")
			k.write(".git", "gitdir: fake\n")
		},
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			k := newWork(t)
			k.commit("Mine", "a.md", "1")
			spoil(k)
			if _, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "kb", Folder: k.dir}); err == nil {
				t.Error("it was served")
			} else {
				t.Log(err)
			}
		})
	}
}

// swap replaces something by a symbolic link, or only removes it.
func (k *work) swap(path, target string) {
	k.t.Helper()
	full := filepath.Join(k.dir, path)
	if err := os.RemoveAll(full); err != nil {
		k.t.Fatal(err)
	}
	if target != "" {
		if err := os.Symlink(target, full); err != nil {
			k.t.Fatal(err)
		}
	}
}

func TestFolderThatBeginsToBorrowStandsStill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	one := k.commit("One", "a.md", "1")
	w.add("kb", k.dir)
	w.run()
	other := newWork(t)
	k.write(".git/objects/info/alternates", filepath.Join(other.dir, ".git", "objects")+"\n")
	k.commit("Two", "a.md", "2")
	until(t, "the log", func() bool { return strings.Contains(w.logs.String(), "borrows objects") })
	if got := w.served("kb"); got != "main "+one {
		t.Errorf("served %q", got)
	}
	if n := strings.Count(w.logs.String(), "borrows objects"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	if err := os.Remove(filepath.Join(k.dir, ".git/objects/info/alternates")); err != nil {
		t.Fatal(err)
	}
	w.untilServed("kb", "main "+k.git("rev-parse", "HEAD"))
}

// TestHostileFolderRunsNothing serves a repository in which everything that
// can name a program does.
func TestHostileFolderRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	trap := filepath.Join(t.TempDir(), "sprung")
	script := filepath.Join(t.TempDir(), "trap.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho $0 >> "+trap+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	k.commit("One", "a.md", "1", ".gitattributes", "* filter=trap diff=trap merge=trap\n", ".mailmap", "x <y>\n")
	included := filepath.Join(t.TempDir(), "included")
	if err := os.WriteFile(included, []byte("[core]\n\tsshCommand = "+script+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, hook := range []string{"post-checkout", "pre-receive", "update", "post-receive", "post-update", "reference-transaction", "post-index-change", "fsmonitor-watchman"} {
		k.write(".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >> "+trap+"\n")
		if err := os.Chmod(filepath.Join(k.dir, ".git/hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, pair := range [][2]string{
		{"core.fsmonitor", script}, {"core.hooksPath", filepath.Join(k.dir, ".git/hooks")}, {"core.pager", script}, {"core.editor", script},
		{"core.alternateRefsCommand", script}, {"uploadpack.packObjectsHook", script}, {"include.path", included},
		{"filter.trap.clean", script}, {"filter.trap.smudge", script}, {"diff.trap.command", script}, {"diff.trap.textconv", script},
		{"diff.external", script}, {"merge.trap.driver", script}, {"gpg.program", script}, {"core.gitProxy", script}, {"core.askPass", script},
		{"credential.helper", script}, {"alias.log", "!" + script}, {"log.showSignature", "true"}, {"core.sshCommand", script}, {"trailer.x.command", script},
	} {
		k.git("config", pair[0], pair[1])
	}
	// From here on git itself would spring the trap, so objects are made with
	// plumbing that runs nothing.
	w.add("kb", k.dir)
	w.run()
	if err := os.Remove(trap); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	clean := &work{t: t, dir: k.dir, env: append(k.env, "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null", "GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false")}
	two := clean.git("commit-tree", "-p", "HEAD", "-m", "Two", "HEAD^{tree}")
	clean.git("update-ref", "refs/heads/main", two)
	w.untilServed("kb", "main "+two)
	token := w.token(0)
	for _, path := range []string{"/repos/acme/kb/commits/main", "/repos/acme/kb/git/trees/main?recursive=1", "/repos/acme/kb/compare/" + two + "...main"} {
		if a := w.get(path, token); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	outside := newWork(t)
	outside.git("clone", "-q", "--no-checkout", w.remote("kb", token), "clone")
	w.hooks.wait(t, "push", 1)
	if sprung, err := os.ReadFile(trap); err == nil {
		t.Errorf("the folder ran: %s", sprung)
	}
}

func TestPipesInAFolderDoNotHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	one := k.commit("One", "a.md", "1")
	for _, name := range []string{".git/shallow", ".git/objects/info/alternates"} {
		if err := syscall.Mkfifo(filepath.Join(k.dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := w.hub.AddRepository(t.Context(), localhub.RepositorySpec{Name: "kb", Folder: k.dir})
		t.Log(name, err)
		if err := os.Remove(filepath.Join(k.dir, name)); err != nil {
			t.Fatal(err)
		}
		if len(w.hub.Repositories()) == 1 {
			if err := w.hub.RemoveRepository("kb"); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.add("kb", k.dir)
	if got := w.served("kb"); got != "main "+one {
		t.Errorf("served %q", got)
	}
}

func TestIdentityOfTheFolder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	k := newWork(t)
	k.git("config", "user.name", "Ada L.")
	k.git("config", "user.email", "ada@example.org")
	k.env = append(k.env, "GIT_AUTHOR_EMAIL=ada@example.org")
	k.commit("One", "a.md", "1")
	w.add("kb", k.dir)
	if p := w.hub.People()[0]; p.Name != "Ada L." || p.Email != "ada@example.org" {
		t.Errorf("person %+v", p)
	}
	a := w.get("/repos/acme/kb/commits/main", w.token(1)).json(t)
	if at(a, "author", "login") != w.hub.People()[0].Login || at(a, "committer") != nil {
		t.Errorf("author %v", at(a, "author"))
	}
}
