package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"vault/e2e/corpus"
	"vault/e2e/harness"
)

// class is one kind of search.
type class struct {
	name, query string
	regex       bool
	// least is how many times as fast as ripgrep the first call has to be,
	// warm the same for later ones.
	least, warm float64
}

func classes() []class {
	const notSlower = 1
	return []class{
		{"no match", "zzqqxxnothing", false, 10, 10},
		{"rare literal", corpus.Rare, false, 10, 10},
		{"medium literal", corpus.Medium, false, notSlower, notSlower},
		{"common literal", "function", false, notSlower, notSlower},
		{"very common literal", "the", false, notSlower, notSlower},
		{"phrase of common words", "and that the information", false, notSlower, notSlower},
		{"two characters", "](", false, notSlower, notSlower},
		{"punctuation", "](../", false, notSlower, notSlower},
		{"code", corpus.Code, false, notSlower, notSlower},
		{"case counts", "This line has Z", false, notSlower, notSlower},
		{"regex with a literal", `std::\w+_ptr\b`, true, notSlower, notSlower},
		{"regex, alternation", `(zorkmedium|quuxrare) in`, true, notSlower, notSlower},
		{"regex with a short literal", `\d{4}-13-\d{2}`, true, notSlower, notSlower},
		{"regex without a literal", `[w-z]\d{3}[w-z]`, true, 1.0 / 3, notSlower},
	}
}

// hits is how many lines are asked for.
const hits = 100

// search compares search_notes with ripgrep over the checkout: the first call
// of a fresh instance, and the later ones.
func (b *bench) search() error {
	if _, err := exec.LookPath("rg"); err != nil {
		return errors.New("ripgrep is not installed")
	}
	roles, err := b.startRoles("search", b.checkout())
	if err != nil {
		return err
	}
	defer roles.stop()
	if err := b.firstCall(roles); err != nil {
		return err
	}
	for _, c := range classes() {
		if err := b.sameLines(roles.dev, c); err != nil {
			return err
		}
		if err := b.searchClass(roles, c); err != nil {
			return err
		}
	}
	return nil
}

// searchClass measures one class: the first call of an instance that was just
// started, and a later one.
func (b *bench) searchClass(roles *apart, c class) error {
	var cold, warm, rg []float64
	call := func() error { _, err := vaultLines(roles.dev, c); return err }
	for range rounds {
		if _, err := roles.restartInstance(roles.listening); err != nil {
			return err
		}
		first, err := milliseconds(call)
		if err != nil {
			return err
		}
		second, err := milliseconds(call)
		if err != nil {
			return err
		}
		theirs, err := milliseconds(func() error { _, err := b.ripgrep(c, false); return err })
		if err != nil {
			return err
		}
		cold, warm, rg = append(cold, first), append(warm, second), append(rg, theirs)
	}
	b.add(row{name: "search, " + c.name + ", cold", ours: cold, theirs: rg, unit: "ms",
		goal: fmt.Sprintf("≤ %.2f", 1/c.least), met: median(cold)*c.least <= median(rg)})
	b.add(row{name: "search, " + c.name + ", warm", ours: warm, theirs: rg, unit: "ms",
		goal: fmt.Sprintf("≤ %.2f", 1/c.warm), met: median(warm)*c.warm <= median(rg)})
	return b.profile(roles, "search-"+strings.ReplaceAll(c.name, " ", "-"), call)
}

// firstCall measures what the first call of a process costs beside its own
// work: connecting, and reading what is in force.
func (b *bench) firstCall(roles *apart) error {
	var first, second []float64
	call := func() error { _, err := roles.dev.Client().Call("tree", map[string]any{}); return err }
	for range rounds {
		if _, err := roles.restartInstance(roles.listening); err != nil {
			return err
		}
		for _, samples := range []*[]float64{&first, &second} {
			took, err := milliseconds(call)
			if err != nil {
				return err
			}
			*samples = append(*samples, took)
		}
	}
	b.add(row{name: "tree of repositories, first call", ours: first, theirs: second, unit: "ms"})
	return nil
}

// ripgrep gives path:line of what ripgrep finds, in path order when asked.
func (b *bench) ripgrep(c class, sorted bool) ([]string, error) {
	args := []string{"--no-heading", "--line-number", "--smart-case", "--glob", "*.md", "--no-ignore"}
	if !c.regex {
		args = append(args, "--fixed-strings")
	}
	cmd := exec.Command("rg", append(args, "--regexp", c.query, ".")...)
	cmd.Dir = b.checkout()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil // nothing found
	}
	if err != nil || !sorted {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimPrefix(line, "./"), ":", 3)
		lines = append(lines, fmt.Sprintf("%s:%08s", f[0], f[1]))
	}
	slices.Sort(lines)
	return lines[:min(len(lines), hits)], nil
}

// vaultLines gives path:line of what search_notes finds.
func vaultLines(d *harness.Dev, c class) ([]string, error) {
	answer, err := d.Client().Call("search_notes", map[string]any{"query": c.query, "regex": c.regex, "repo": "kb", "limit": hits})
	if err != nil {
		return nil, err
	}
	var a struct {
		Matches []struct {
			Path string
			Line int
		}
	}
	if err := decode(answer.Structured, &a); err != nil {
		return nil, err
	}
	var lines []string
	for _, m := range a.Matches {
		lines = append(lines, fmt.Sprintf("%s:%08d", m.Path, m.Line))
	}
	return lines, nil
}

// sameLines checks that both sides find the same.
func (b *bench) sameLines(d *harness.Dev, c class) error {
	ours, err := vaultLines(d, c)
	if err != nil {
		return err
	}
	theirs, err := b.ripgrep(c, true)
	if err != nil {
		return err
	}
	if !slices.Equal(ours, theirs) {
		b.wrong = append(b.wrong, fmt.Errorf("search for %s: %d lines, ripgrep has %d; they differ", c.name, len(ours), len(theirs)))
	}
	return nil
}
