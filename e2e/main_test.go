// Package e2e runs scenarios over the real binary, real Postgres, real git
// and real MCP clients.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vault/e2e/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.dev != nil {
		if err := shared.dev.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "the shared vault did not stop cleanly:", err)
			code = 1
		}
		_ = os.RemoveAll(shared.dir)
	}
	harness.RemoveBinary()
	os.Exit(code)
}

// startLimit bounds how long a vault may take to be ready, first builds on a
// busy machine included.
const startLimit = 2 * time.Minute

// start runs `vault dev` in a folder of its own and stops it with the test.
func start(t testing.TB, args ...string) *harness.Dev {
	t.Helper()
	dir := reachable(t)
	return startIn(t, dir, args...)
}

// reachable makes a folder that other users can reach: as root, Postgres runs
// as another user.
func reachable(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vault-e2e-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startIn is start in a given folder.
func startIn(t testing.TB, dir string, args ...string) *harness.Dev {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	d, err := harness.StartDev(ctx, dir, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		select {
		case <-d.Done():
		default:
			if err := d.Stop(); err != nil {
				t.Errorf("stop: %v\n%s", err, d.Output())
			}
		}
	})
	return d
}

// shared is one vault over the sample organisation, for tests that only read.
var shared struct {
	once sync.Once
	dir  string
	dev  *harness.Dev
	err  error
}

// acme gives the shared vault over the sample organisation.
func acme(t testing.TB) *harness.Dev {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startLimit)
		defer cancel()
		if shared.dir, shared.err = os.MkdirTemp("", "vault-e2e-"); shared.err != nil {
			return
		}
		_ = os.Chmod(shared.dir, 0o755)
		shared.dev, shared.err = harness.StartDev(ctx, shared.dir)
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.dev
}

// repository makes a git repository with a work tree under a folder.
func repository(t testing.TB, folder string, files map[string]string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, folder, "init", "-q", "-b", "main")
	write(t, folder, files)
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "-q", "--allow-empty", "-m", "Begin")
	return folder
}

// write writes files below a folder.
func write(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// git runs git as a person would, with a fixed identity.
func git(t testing.TB, folder string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Test", "GIT_AUTHOR_EMAIL=test@example.org",
		"GIT_COMMITTER_NAME=Test", "GIT_COMMITTER_EMAIL=test@example.org")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, exit.Stderr)
		}
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// until waits for a condition and fails the test when it does not come.
func until(t testing.TB, limit time.Duration, what string, met func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !met() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %s", what, limit)
		}
		<-tick.C
	}
}

// text calls a tool and gives its answer, or the sentence of its error.
func text(c *harness.Client, tool string, args map[string]any) (answer string, isError bool) {
	r, err := c.Call(tool, args)
	if err == nil {
		return r.Text, false
	}
	return err.Error(), true
}
