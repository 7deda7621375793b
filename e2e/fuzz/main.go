// Command fuzz runs every fuzz test of the module for a while, one after the
// other.
package main

import (
	"flag"
	"fmt"
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

func run(each time.Duration) error {
	packages, err := output("list", "./...")
	if err != nil {
		return err
	}
	ran := 0
	for pkg := range strings.FieldsSeq(packages) {
		names, err := output("test", "-list", "^Fuzz", pkg)
		if err != nil {
			return err
		}
		for _, name := range target.FindAllString(names, -1) {
			fmt.Printf("== %s %s\n", pkg, name)
			ran++
			cmd := command("test", "-run", "^$", "-fuzz", "^"+name+"$", "-fuzztime", each.String(), pkg)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s %s: %w", pkg, name, err)
			}
		}
	}
	if ran == 0 {
		return fmt.Errorf("no fuzz test was found")
	}
	return nil
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
