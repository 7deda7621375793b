package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// fakeGit makes a runner whose git is a shell script. It stands in for a git
// that misbehaves, never for its answers.
func fakeGit(t testing.TB, body string) *Runner {
	t.Helper()
	binary := script(t, "case \"$*\" in *version) echo git version 2.39.5; exit;; esac\n"+body)
	r, err := New(t.Context(), Options{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// TestCancelKillsTheGroup hangs in a process that ignores the request to end
// and has children that do.
func TestCancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	pids := filepath.Join(t.TempDir(), "pids")
	r := fakeGit(t, `trap '' TERM
(trap '' TERM; sleep 600) & echo $! >>'`+pids+`'
echo $$ >>'`+pids+`'
echo ready >>'`+pids+`'
wait; sleep 600`)
	repo := open(t, r, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		waitFor(t, "the process to start", func() bool { return strings.Contains(readFile(pids), "ready") })
		cancel()
	}()
	start := time.Now()
	if _, err := repo.Ref(ctx, "refs/heads/main"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	for _, field := range strings.Fields(readFile(pids)) {
		if pid, err := strconv.Atoi(field); err == nil {
			waitFor(t, "process "+field+" to end", func() bool { return !alive(pid) })
		}
	}
}

func readFile(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func waitFor(t testing.TB, what string, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			t.Errorf("waited in vain for %s", what)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// alive reports whether a process runs; one that has ended and waits for its
// parent to notice does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat := readFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := cutLast(stat, ") ")
	return !strings.HasPrefix(state, "Z")
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	r := fakeGit(t, "exec sleep 600")
	r.limits.small = 50 * time.Millisecond
	r.limits.long = 50 * time.Millisecond
	repo := open(t, r, t.TempDir())
	some := OID(strings.Repeat("1", 40))
	_, refErr := repo.Ref(t.Context(), "refs/heads/main")
	_, blobErr := repo.Blob(t.Context(), some, 1)
	for name, err := range map[string]error{
		"small call":       refErr,
		"standing process": blobErr,
		"move of a ref":    repo.UpdateRef(t.Context(), "refs/heads/main", some, Zero),
		"walk":             repo.Tree(t.Context(), some, func(TreeEntry) error { return nil }),
		"blobs":            repo.Blobs(t.Context(), []OID{some}, 1, func(Blob) error { return nil }),
	} {
		if !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	r := fakeGit(t, "exec yes")
	r.limits.output = 1 << 20
	repo := open(t, r, t.TempDir())
	if _, err := repo.Ref(t.Context(), "refs/heads/main"); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	// Without an end of record, a record is the cap.
	r.limits.stream = 64 << 20
	err := repo.Tree(t.Context(), OID(strings.Repeat("1", 40)), func(TreeEntry) error { return nil })
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("walk: %v", err)
	}
}

// TestTreeBomb lists a tree of ten million files made of eight objects.
func TestTreeBomb(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	repo := bare(t, r)
	oid, err := repo.WriteBlob(t.Context(), []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	mode := ModeFile
	for range 7 {
		var entries []TreeEntry
		for i := range 10 {
			entries = append(entries, TreeEntry{Mode: mode, OID: oid, Path: strconv.Itoa(i)})
		}
		if oid, err = repo.WriteTree(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
		mode = ModeFolder
	}
	r.limits.entries = 1000
	r.limits.memory = 200 << 20 // diff-tree keeps all changes before it lists any
	n := 0
	err = repo.Tree(t.Context(), oid, func(TreeEntry) error { n++; return nil })
	if !errors.Is(err, ErrTooLarge) || n != 1000 {
		t.Errorf("Tree: %d entries, %v", n, err)
	}
	n = 0
	err = repo.Diff(t.Context(), Zero, oid, func(Change) error { n++; return nil })
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("Diff: %d entries, %v", n, err)
	}
}

// TestEnvironment checks that git sees nothing of ours but PATH.
func TestEnvironment(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "env")
	t.Setenv("VAULT_SECRET", "secret")
	t.Setenv("GIT_SSH_COMMAND", "evil")
	t.Setenv("GIT_DIR", "/evil")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", "evil")
	t.Setenv("HTTPS_PROXY", "http://evil")
	r := fakeGit(t, "/usr/bin/env >'"+seen+"'; pwd >>'"+seen+"'")
	repo := open(t, r, t.TempDir(), "/safe/one", "/safe/two")
	_, _ = repo.Ref(t.Context(), "refs/heads/main")
	text := readFile(seen)
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, want := range []string{
		"GIT_DIR=" + repo.Dir(), "HOME=" + r.home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1", "LC_ALL=C", "GIT_ALLOW_PROTOCOL=", "PATH=" + os.Getenv("PATH"),
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is not in the environment", want)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "evil") || strings.Contains(text, "PROXY") {
		t.Errorf("the environment leaks:\n%s", text)
	}
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "=")
		known := strings.HasPrefix(name, "GIT_") || strings.HasPrefix(line, "/")
		if !known && !slices.Contains([]string{"PATH", "HOME", "LC_ALL", "PWD", "SHLVL", "_", "OLDPWD"}, name) {
			t.Errorf("unexpected %s", line)
		}
	}
	for _, dir := range []string{"/safe/one", "/safe/two"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasSuffix(l, "="+dir) }) {
			t.Errorf("%s is not named as safe", dir)
		}
	}
	entries, err := os.ReadDir(r.home)
	if err != nil || len(entries) != 0 {
		t.Errorf("home holds %v, %v", entries, err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.home); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("home after Close: %v", err)
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	r := fakeGit(t, `printf 'fatal: \033[31mred\033[0m\nsecond \302\205line\n' >&2; yes x | head -c 100000 >&2; exit 3`)
	_, err := open(t, r, t.TempDir()).MergeBase(t.Context(), emptyTree, emptyTree)
	var e *Error
	if !errors.As(err, &e) || e.Code != 3 || e.Command != "merge-base" || len(e.Text) > headLimit+2048 {
		t.Fatalf("got %+v", err)
	}
	if strings.ContainsAny(e.Text, "\x1b\n") || !strings.HasPrefix(e.Text, "fatal:  [31mred [0m; second") {
		t.Errorf("text %.60q", e.Text)
	}
}

// TestStandingProcessDies kills what a repository holds; the next call starts
// it anew.
func TestStandingProcessDies(t *testing.T) {
	t.Parallel()
	repo, tip := filled(t, newRunner(t))
	read := func() {
		t.Helper()
		if data, err := repo.Blob(t.Context(), BlobOID([]byte("one")), 10); err != nil || string(data) != "one" {
			t.Errorf("Blob = %q, %v", data, err)
		}
	}
	read()
	end(t, repo.objects.p)
	read()
	name := "refs/heads/x"
	if err := repo.UpdateRef(t.Context(), name, tip, Zero); err != nil {
		t.Error(err)
	}
	end(t, repo.refs.p)
	if err := repo.UpdateRef(t.Context(), name, Zero, tip); err != nil {
		t.Error(err)
	}
}

func end(t testing.TB, p *process) {
	t.Helper()
	pid := p.cmd.Process.Pid
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the process to die", func() bool { return !alive(pid) })
}

// TestCancelledReadLeavesNothingBehind cancels calls at every moment of an
// exchange; the next call must not read the answer of the one before.
func TestCancelledReadLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	repo, _ := filled(t, newRunner(t))
	big := BlobOID([]byte(strings.Repeat("three", 10_000)))
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
		_, err := repo.Blob(ctx, big, 1<<20)
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cancelled: %v", err)
		}
		if data, err := repo.Blob(t.Context(), BlobOID([]byte("one")), 10); err != nil || string(data) != "one" {
			t.Fatalf("round %d: %q, %v", i, data, err)
		}
	}
}

// TestCancelledMoveLeavesNoLock cancels moves of a ref; none may leave a lock
// file that stops the next one.
func TestCancelledMoveLeavesNoLock(t *testing.T) {
	t.Parallel()
	repo, tip := filled(t, newRunner(t))
	const name = "refs/heads/x"
	for i := range 60 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
		_ = repo.UpdateRef(ctx, name, tip, Zero)
		cancel()
		oid, err := repo.Ref(t.Context(), name)
		if err == nil && oid == tip {
			err = repo.UpdateRef(t.Context(), name, Zero, tip)
		} else if errors.Is(err, ErrNotFound) {
			err = nil
		}
		if err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}

// TestMovesLoseNothing lets many goroutines move one ref by compare-and-set:
// each commit must be in the history.
func TestMovesLoseNothing(t *testing.T) {
	t.Parallel()
	r := newRunner(t)
	repo, tip := filled(t, r)
	second := open(t, r, repo.Dir())
	const workers, rounds = 4, 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			mine := []*Repo{repo, second}[w%2]
			for i := range rounds {
				if err := addCommit(t.Context(), mine, fmt.Sprintf("%d-%d", w, i)); err != nil {
					t.Errorf("worker %d: %v", w, err)
					return
				}
			}
		})
	}
	wg.Wait()
	head, err := repo.Ref(t.Context(), "refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := repo.Log(t.Context(), LogOptions{Tip: head, Not: []OID{tip}}, func(Commit) error { n++; return nil }); err != nil || n != workers*rounds {
		t.Errorf("%d commits, want %d, %v", n, workers*rounds, err)
	}
	newPlain(t, repo.Dir()).run("fsck", "--strict")
}

func addCommit(ctx context.Context, repo *Repo, name string) error {
	for {
		head, err := repo.Ref(ctx, "refs/heads/main")
		if err != nil {
			return err
		}
		tree, err := repo.WriteFiles(ctx, head, []FileChange{{Path: "w/" + name, Data: []byte(name)}})
		if err != nil {
			return err
		}
		oid, err := repo.WriteCommit(ctx, CommitSpec{Tree: tree, Parents: []OID{head}, Author: ann(), Committer: carl(), Message: name})
		if err != nil {
			return err
		}
		err = repo.UpdateRef(ctx, "refs/heads/main", oid, head)
		if err == nil || !errors.Is(err, ErrRefMoved) && !errors.Is(err, ErrRefBusy) {
			return err
		}
	}
}
