// Command bench measures vault against baselines that run beside it: ripgrep,
// git, a bare net/http handler and raw Postgres. Both sides take turns, five
// rounds; medians, spread and ratio are printed, since absolute times mean
// little on a shared machine. It fails when two sides do not return the same.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"vault/e2e/corpus"
	"vault/e2e/harness"
)

// rounds is how often both sides take their turn.
const rounds = 5

// row is one line of the table.
type row struct {
	name string
	// ours and theirs are the samples; a baseline may be missing.
	ours, theirs []float64
	unit         string
	// goal is the goal in words, met whether it holds.
	goal string
	met  bool
}

// bench is one run.
type bench struct {
	dir   string
	notes int
	rows  []row
	// profiles is the folder for profiles of the instance, "" for none.
	profiles string
	// wrong collects answers of two sides that differ.
	wrong []error
}

func main() {
	quick := flag.Bool("quick", false, "use 1,000 notes instead of 10,000")
	only := flag.String("only", "", "run only the part with this name: "+strings.Join(names(), ", "))
	profiles := flag.String("profile", "", "folder to write CPU profiles of the instance to")
	bare := flag.String("serve-bare", "", "serve a file's bytes (used by the bench itself)")
	flag.Parse()
	if *bare != "" {
		serveBare(*bare)
		return
	}
	b := &bench{notes: 10_000, profiles: *profiles}
	if *quick {
		b.notes = 1_000
	}
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// part is one group of measurements.
type part struct {
	name string
	run  func(*bench) error
}

func parts() []part {
	return []part{
		{"list", (*bench).list}, {"search", (*bench).search}, {"read", (*bench).read}, {"instance", (*bench).instance},
		{"build", (*bench).build}, {"push", (*bench).push},
	}
}

func names() (list []string) {
	for _, p := range parts() {
		list = append(list, p.name)
	}
	return list
}

// run measures all parts, or only one.
func (b *bench) run(only string) (err error) {
	if only != "" && !slices.Contains(names(), only) {
		return fmt.Errorf("there is no part %q; there are %s", only, strings.Join(names(), ", "))
	}
	if b.dir, err = os.MkdirTemp("", "vault-bench-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	defer harness.RemoveBinary()
	if err := os.Chmod(b.dir, 0o755); err != nil {
		return err
	}
	if err := corpus.Plain(b.checkout(), b.notes, 1); err != nil {
		return err
	}
	b.describe()
	var errs []error
	for _, p := range parts() {
		if only != "" && only != p.name {
			continue
		}
		if err := p.run(b); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", p.name, err))
		}
	}
	b.conclude()
	return errors.Join(append(errs, b.wrong...)...)
}

func (b *bench) checkout() string { return filepath.Join(b.dir, "kb") }

// describe prints what is measured with what.
func (b *bench) describe() {
	first := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return name + " missing"
		}
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	postgres, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	fmt.Printf("corpus: %d generated notes of seed 1; %d cores; %s; %s; %s; %s\n", b.notes, runtime.NumCPU(), runtime.Version(),
		first("git", "--version"), first("rg", "--version"), first(append(postgres, "postgres")[0], "--version"))
	fmt.Printf("median (least to most) of %d rounds, both sides in turns\n\n", rounds)
}

// add keeps a row and prints it at once.
func (b *bench) add(r row) {
	b.rows = append(b.rows, r)
	fmt.Println(r.line())
}

func (r row) line() string {
	text := fmt.Sprintf("%-40s %s", r.name, show(r.ours, r.unit))
	if len(r.theirs) > 0 {
		text += fmt.Sprintf("  against %s  ratio %.2f", show(r.theirs, r.unit), median(r.ours)/median(r.theirs))
	}
	if r.goal != "" {
		verdict := "met"
		if !r.met {
			verdict = "MISSED"
		}
		text += "  goal " + r.goal + ": " + verdict
	}
	return text
}

// conclude says how many goals were met, and which were not.
func (b *bench) conclude() {
	met, all := 0, 0
	var missed []string
	for _, r := range b.rows {
		switch {
		case r.goal == "":
			continue
		case r.met:
			met++
		default:
			missed = append(missed, r.name)
		}
		all++
	}
	fmt.Printf("\n%d of %d goals met\n", met, all)
	for _, name := range missed {
		fmt.Println("missed: " + name)
	}
}

func show(samples []float64, unit string) string {
	sorted := slices.Sorted(slices.Values(samples))
	return fmt.Sprintf("%.2f %s (%.2f to %.2f)", median(samples), unit, sorted[0], sorted[len(sorted)-1])
}

func median(samples []float64) float64 {
	sorted := slices.Sorted(slices.Values(samples))
	return sorted[len(sorted)/2]
}

// milliseconds times fn.
func milliseconds(fn func() error) (float64, error) {
	start := time.Now()
	err := fn()
	return float64(time.Since(start).Microseconds()) / 1000, err
}
