// Command real compares what vault answers with what git and ripgrep say, on
// real repositories: lists, counts, contents and searches. It prints a table
// and fails when anything differs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vault/e2e/harness"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: real CHECKOUT…")
		os.Exit(2)
	}
	failed := false
	for _, folder := range os.Args[1:] {
		if err := compare(folder); err != nil {
			fmt.Fprintf(os.Stderr, "real: %s: %v\n", folder, err)
			failed = true
		}
	}
	harness.RemoveBinary()
	if failed {
		os.Exit(1)
	}
}

// startLimit bounds a start with its first build.
const startLimit = 15 * time.Minute

// comparison is one repository under comparison.
type comparison struct {
	folder string
	repo   string
	client *harness.Client
	// notes are the paths of the notes git has, that a caller can name.
	notes []string
	// differences are what was found.
	differences []string
}

func (c *comparison) differ(format string, args ...any) {
	c.differences = append(c.differences, fmt.Sprintf(format, args...))
}

// compare does all comparisons on one checkout.
func compare(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "vault-real-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	d, err := harness.StartDev(ctx, dir, folder)
	if err != nil {
		return err
	}
	defer func() { _ = d.Stop() }()
	c := &comparison{folder: folder, client: d.Client()}
	if c.repo, err = onlyRepo(c.client); err != nil {
		return err
	}
	fmt.Printf("%s: ready after %s\n", c.repo, d.Took.Round(time.Millisecond))
	for _, step := range []struct {
		name string
		run  func(*comparison) (string, error)
	}{{"list", (*comparison).list}, {"contents", (*comparison).contents}, {"counts", (*comparison).counts}, {"search", (*comparison).search}} {
		before := len(c.differences)
		start := time.Now()
		what, err := step.run(c)
		if err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Printf("  %-9s %-60s %d differ  %s\n", step.name, what, len(c.differences)-before, time.Since(start).Round(time.Millisecond))
	}
	for i, line := range c.differences {
		if i == 30 {
			fmt.Printf("  … and %d more\n", len(c.differences)-i)
			break
		}
		fmt.Println("  differs: " + line)
	}
	if len(c.differences) > 0 {
		return errors.New("answers differ")
	}
	return nil
}

func onlyRepo(c *harness.Client) (string, error) {
	answer, err := harness.Into[struct{ Repos []struct{ Repo string } }](c, "tree", map[string]any{})
	if err != nil {
		return "", err
	}
	if len(answer.Repos) != 1 {
		return "", fmt.Errorf("%d repositories are served", len(answer.Repos))
	}
	return answer.Repos[0].Repo, nil
}

// nameable reports whether a caller can send a path, and whether it is open.
func nameable(path string) bool {
	if strings.ToValidUTF8(path, "") != path || strings.ContainsAny(path, "\\\x00\n\r\t") {
		return false
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}
