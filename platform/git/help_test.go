package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newRunner gives a runner whose home folder goes away with the test.
func newRunner(t testing.TB, allow ...string) *Runner {
	t.Helper()
	r, err := New(t.Context(), Options{AllowHTTP: allow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// open opens a git folder and closes it with the test.
func open(t testing.TB, r *Runner, dir string, safe ...string) *Repo {
	t.Helper()
	repo := r.Open(dir, safe...)
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// bare makes a bare repository and opens it.
func bare(t testing.TB, r *Runner) *Repo {
	t.Helper()
	repo, err := r.InitBare(t.Context(), filepath.Join(t.TempDir(), "bare.git"), "main")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	})
	return repo
}

// plain is an independent way to git, for making and judging repositories.
type plain struct {
	t   testing.TB
	dir string
	env []string
}

func newPlain(t testing.TB, dir string) plain {
	t.Helper()
	home := t.TempDir()
	return plain{t: t, dir: dir, env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Ann Author", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_AUTHOR_DATE=1700000000 +0530",
		"GIT_COMMITTER_NAME=Carl Committer", "GIT_COMMITTER_EMAIL=carl@example.org", "GIT_COMMITTER_DATE=1700000100 -0200",
	}}
}

// workTree makes a repository with a work tree on branch main.
func workTree(t testing.TB) plain {
	t.Helper()
	p := newPlain(t, t.TempDir())
	p.run("init", "-q", "-b", "main")
	return p
}

func (p plain) run(args ...string) string { p.t.Helper(); return p.input("", args...) }

func (p plain) input(stdin string, args ...string) string {
	p.t.Helper()
	out, err := p.try(stdin, args...)
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSuffix(out, "\n")
}

func (p plain) try(stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = p.dir, p.env, strings.NewReader(stdin)
	var out, text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &text
	err := cmd.Run()
	return out.String() + text.String(), err
}

func (p plain) write(path, text string) {
	p.t.Helper()
	full := filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// commit records everything in the work tree.
func (p plain) commit(message string) OID {
	p.t.Helper()
	p.run("add", "-A")
	p.run("commit", "-q", "--allow-empty", "-m", message)
	return OID(p.run("rev-parse", "HEAD"))
}

func (p plain) gitDir() string { return filepath.Join(p.dir, ".git") }
