// Command fuzz runs every fuzz test of the module for a while, one after the
// other.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"vault/e2e/harness"
)

var target = regexp.MustCompile(`(?m)^Fuzz\w+$`)

func main() {
	each := flag.Duration("time", 30*time.Second, "how long each test runs")
	flag.Parse()
	if err := run(*each); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

// run fuzzes one test after the other, and goes on after one that fails.
func run(each time.Duration) error {
	packages, err := output("list", "./...")
	if err != nil {
		return err
	}
	ran := 0
	var failed []string
	for pkg := range strings.FieldsSeq(packages) {
		names, err := output("test", "-list", "^Fuzz", pkg)
		if err != nil {
			return err
		}
		for _, name := range target.FindAllString(names, -1) {
			fmt.Printf("== %s %s\n", pkg, name)
			ran++
			if !fuzz(pkg, name, each) {
				failed = append(failed, pkg+" "+name)
			}
		}
	}
	switch {
	case ran == 0:
		return errors.New("no fuzz test was found")
	case len(failed) > 0:
		return fmt.Errorf("%d of %d fuzz tests fail: %s", len(failed), ran, strings.Join(failed, ", "))
	}
	fmt.Printf("%d fuzz tests ran for %s each\n", ran, each)
	return nil
}

// fuzz runs one test and reports whether it holds. Go sometimes fails a test
// whose time is up while an input is still being tried; that is no find.
func fuzz(pkg, name string, each time.Duration) (holds bool) {
	var text bytes.Buffer
	cmd := command("test", "-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", each.String(), pkg)
	cmd.Stdout = io.MultiWriter(os.Stdout, &text)
	cmd.Stderr = os.Stderr
	if cmd.Run() == nil {
		return true
	}
	return strings.Contains(text.String(), "context deadline exceeded") && !strings.Contains(text.String(), "Failing input")
}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Dir = harness.Root()
	return cmd
}

func output(args ...string) (string, error) {
	cmd := command(args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	return string(out), err
}
