package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"vault/e2e/harness"
)

// processes lists the running processes whose command line has a text.
func processes(t *testing.T, text string) []string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "pid,args").Output()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, text) {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// cluster gives the data folder of a vault's private Postgres.
func cluster(t *testing.T, pid int) string {
	t.Helper()
	for _, line := range processes(t, "postgres") {
		fields := strings.Fields(line)
		for i, f := range fields {
			if f == "-D" && i+1 < len(fields) && child(t, fields[0], pid) {
				return fields[i+1]
			}
		}
	}
	t.Fatal("no private Postgres is running")
	return ""
}

func child(t *testing.T, pid string, parent int) bool {
	t.Helper()
	out, err := exec.Command("ps", "-o", "ppid=", "-p", pid).Output()
	return err == nil && strings.TrimSpace(string(out)) == strconv.Itoa(parent)
}

func TestStartStopAndStartAgain(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	folder := repository(t, filepath.Join(dir, "kb"), map[string]string{"a.md": "alpha\n"})
	d := startIn(t, dir, folder)
	data := cluster(t, d.Pid())
	if err := d.Stop(); err != nil {
		t.Fatalf("stop: %v", err)
	}
	if left := processes(t, data); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	if _, err := os.Stat(filepath.Join(d.Data, "lock")); err == nil {
		t.Error("the lock is left")
	}
	again := startIn(t, dir, folder)
	if answer, isError := text(again.Client(), "read_note", map[string]any{"repo": "kb", "path": "a.md"}); isError || !strings.Contains(answer, "alpha") {
		t.Errorf("after a restart: %s", answer)
	}
	t.Logf("first start %s, second %s", d.Took, again.Took)
}

func TestKilledAndStartedAgain(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	folder := repository(t, filepath.Join(dir, "kb"), map[string]string{"a.md": "alpha\n"})
	d := startIn(t, dir, folder)
	token := d.Token
	d.Kill()
	write(t, folder, map[string]string{"b.md": "beta\n"})
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "-q", "-m", "While vault was down")
	again := startIn(t, dir, folder)
	if answer, isError := text(again.Client(), "read_note", map[string]any{"repo": "kb", "path": "b.md"}); isError || !strings.Contains(answer, "beta") {
		t.Errorf("a commit made while vault was down: %s", answer)
	}
	if token == "" {
		t.Error("no token")
	}
}

func TestTwoSideBySide(t *testing.T) {
	t.Parallel()
	a, b := start(t), start(t)
	for _, d := range []*harness.Dev{a, b} {
		if answer, isError := text(d.Client(), "tree", map[string]any{}); isError || !strings.Contains(answer, "handbook") {
			t.Errorf("%s: %s", d.Address, answer)
		}
	}
	if _, isError := text(harness.NewClient(a.Address, b.Token), "tree", map[string]any{}); !isError {
		t.Error("a token of one vault works at another")
	}
}

// failing runs vault to its end and gives what it printed.
func failing(t *testing.T, args ...string) string {
	t.Helper()
	p, err := harness.Run(nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		p.Kill()
		t.Fatalf("vault %q did not end: %s", args, p.Output())
	}
	if p.Err() == nil {
		t.Fatalf("vault %q succeeded: %s", args, p.Output())
	}
	return p.Output()
}

func TestBusyFolderAndPortNameTheProcess(t *testing.T) {
	t.Parallel()
	d := start(t)
	pid := "pid " + strconv.Itoa(d.Pid())
	if out := failing(t, "dev", "--listen", "127.0.0.1:0", "--data", d.Data); !strings.Contains(out, pid) {
		t.Errorf("busy folder: %s", out)
	}
	listen := strings.TrimPrefix(strings.TrimSuffix(d.Address, "/acme"), "http://")
	if out := failing(t, "dev", "--listen", listen, "--data", filepath.Join(reachable(t), "d")); !strings.Contains(out, pid) {
		t.Errorf("busy port: %s", out)
	}
}

func TestRefusedFolders(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	plain := filepath.Join(dir, "plain")
	if err := os.MkdirAll(plain, 0o755); err != nil {
		t.Fatal(err)
	}
	one := repository(t, filepath.Join(dir, "x", "kb"), map[string]string{"a.md": "a"})
	two := repository(t, filepath.Join(dir, "y", "kb.git"), map[string]string{"a.md": "a"})
	detached := repository(t, filepath.Join(dir, "detached"), map[string]string{"a.md": "a"})
	git(t, detached, "checkout", "-q", "--detach")
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"no repository", []string{plain}, "-m 'First version'\n"},
		{"missing", []string{filepath.Join(dir, "nowhere")}, "nowhere"},
		{"same name", []string{one, two}, "both be the repository kb"},
		{"detached", []string{detached}, "detached"},
		{"remote address", []string{"--listen", "0.0.0.0:0"}, "--allow-remote if that is meant\n"},
		{"no address", []string{"--listen", "here"}, "HOST:PORT"},
		{"bad name", []string{"--name", "Not A Name"}, "name"},
		{"unknown flag", []string{"--nonsense"}, "--help"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"dev", "--listen", "127.0.0.1:0", "--data", filepath.Join(reachable(t), "d")}, tt.args...)
			if out := failing(t, args...); !strings.Contains(out, tt.want) {
				t.Errorf("got %s", out)
			}
		})
	}
}

func TestRunsAsAPlainUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the other tests run as a plain user already")
	}
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("setpriv is missing")
	}
	binary, err := harness.Binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := reachable(t)
	const nobody = 65534
	if err := os.Chown(dir, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	ready := filepath.Join(dir, "ready.json")
	cmd := exec.CommandContext(ctx, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--pdeathsig=TERM",
		binary, "dev", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--ready-file", ready)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 10 * time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until(t, startLimit, "ready", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("vault ended: %v: %s", err, out)
		default:
		}
		_, err := os.Stat(ready)
		return err == nil
	})
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := <-ended; err != nil {
		t.Errorf("stop: %v: %s", err, out)
	}
}
