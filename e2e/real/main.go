// Command real compares what vault answers with what git, a straightforward
// scan and ripgrep say, on real repositories: lists, contents, counts and
// searches. A repository may be bare or have a work tree; its HEAD is taken.
// It prints a table and fails when anything differs.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"vault/e2e/harness"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: real REPOSITORY…")
		flag.PrintDefaults()
	}
	every := flag.Int("every", 1, "read only one note of so many")
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	defer harness.RemoveBinary()
	failed := false
	fmt.Printf("%-16s %-9s %-46s %11s %9s\n", "repository", "compared", "with", "differences", "time")
	for _, folder := range flag.Args() {
		if err := compareAll(folder, max(1, *every)); err != nil {
			fmt.Fprintf(os.Stderr, "real: %s: %v\n", folder, err)
			failed = true
		}
	}
	if failed {
		harness.RemoveBinary()
		os.Exit(1)
	}
}

// startLimit bounds a start with its first build.
const startLimit = 15 * time.Minute

// shown is how many differences of one repository are printed.
const shown = 30

// table prints what was compared.
type table struct {
	repo        string
	differences []string
}

// row runs one comparison and prints its line.
func (t *table) row(name string, run func() (with string, err error)) error {
	before, start := len(t.differences), time.Now()
	with, err := run()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("%-16s %-9s %-46s %11d %9s\n", t.repo, name, with, len(t.differences)-before, time.Since(start).Round(time.Millisecond))
	return nil
}

func (t *table) differ(format string, args ...any) {
	t.differences = append(t.differences, fmt.Sprintf(format, args...))
}

// end prints the differences.
func (t *table) end() error {
	for i, line := range t.differences {
		if i == shown {
			fmt.Printf("  … and %d more\n", len(t.differences)-i)
			break
		}
		fmt.Println("  differs: " + strings.ToValidUTF8(line, "\ufffd"))
	}
	if n := len(t.differences); n > 0 {
		return fmt.Errorf("%d answers differ", n)
	}
	return nil
}
