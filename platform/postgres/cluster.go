package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// superuser is the one role of a private server.
const superuser = "vault"

// clusterMajor reads the major version that a cluster was made by, 0 if there
// is no cluster.
func clusterMajor(dir string) (int, error) {
	text, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of the private Postgres: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("read the version of the private Postgres in %s: %w", dir, err)
	}
	return major, nil
}

// initCluster makes the cluster of a home. It is made under another name and
// renamed when it is whole, so that an interrupted one is never started.
func initCluster(ctx context.Context, h home, b binaries, password string, c ServerConfig) error {
	dir := h.path(clusterDir + ".new")
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("clear an unfinished cluster: %w", err)
	}
	secret, err := h.handOver(password)
	if err != nil {
		return fmt.Errorf("hand the password to initdb: %w", err)
	}
	defer func() { _ = os.Remove(secret) }()
	for _, locale := range locales() {
		if err = errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700), h.account.give(dir)); err != nil {
			return fmt.Errorf("make the folder of the cluster: %w", err)
		}
		var out string
		if out, err = h.run(ctx, b.path("initdb"), initArguments(dir, secret, b.major, locale, c)); err == nil {
			break
		}
		if !strings.Contains(out, "locale") {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("make a database cluster: %w", err)
	}
	if err := os.Rename(dir, h.path(clusterDir)); err != nil {
		return fmt.Errorf("name the finished cluster: %w", err)
	}
	return nil
}

// locales are sets of arguments, best first. Words of every script count as
// words for trigrams only under a UTF-8 locale; the order of bytes as the order
// of text is the same everywhere and never changes with the system.
func locales() [][]string {
	return [][]string{
		{"--locale=C.UTF-8"},
		{"--locale=C", "--lc-ctype=en_US.UTF-8"},
		{"--locale=C"},
	}
}

func initArguments(dir, secret string, major int, locale []string, c ServerConfig) []string {
	args := []string{
		"--pgdata=" + dir,
		"--username=" + superuser,
		"--pwfile=" + secret,
		"--auth=scram-sha-256",
		"--encoding=UTF8",
		"--lc-messages=C",
	}
	args = append(args, locale...)
	if major >= 18 {
		args = append(args, "--no-data-checksums") // on by default since 18
	}
	if c.Volatile {
		args = append(args, "--no-sync")
	}
	return args
}

// handOver writes the password where the server's account can read it once.
func (h home) handOver(password string) (string, error) {
	path := h.path("initdb-password")
	if err := writeFile(path, password); err != nil {
		return "", err
	}
	return path, h.account.give(path)
}

// run runs a program of Postgres as the server's account and gives what it
// printed, which is also part of the error.
func (h home) run(ctx context.Context, program string, args []string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = h.root
	cmd.Env = serverEnvironment(h.root)
	cmd.SysProcAttr = processAttributes(h.account)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out), fmt.Errorf("run %s: %w: %s", program, err, lastLines(string(out), 5))
	}
	return string(out), nil
}

// serverEnvironment leaves out everything that could steer Postgres from
// outside, such as PGDATA or PGPORT.
func serverEnvironment(root string) []string {
	env := []string{"HOME=" + root, "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	for _, name := range []string{"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// lastLines gives the last n lines of text as one line.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
