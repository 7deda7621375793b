package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"vault/e2e/harness"
)

// git runs git in the checkout.
func (c *comparison) git(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.folder
	out, err := cmd.Output()
	return string(out), err
}

// list compares list_notes, page by page, with git's tree.
func (c *comparison) list() (string, error) {
	out, err := c.git("ls-tree", "-r", "-z", "HEAD")
	if err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		meta, name, ok := strings.Cut(entry, "\t")
		ending := strings.ToLower(path.Ext(name))
		if ok && strings.HasPrefix(meta, "100") && (ending == ".md" || ending == ".markdown") && nameable(name) {
			c.notes = append(c.notes, name)
		}
	}
	slices.Sort(c.notes)
	var got []string
	for {
		page, err := harness.Into[struct {
			Notes   []struct{ Path string }
			Total   int
			HasMore bool
		}](c.client, "list_notes", map[string]any{"repo": c.repo, "limit": 200, "offset": len(got)})
		if err != nil {
			return "", err
		}
		for _, n := range page.Notes {
			got = append(got, n.Path)
		}
		if !page.HasMore {
			if page.Total != len(c.notes) {
				c.differ("total %d, git has %d notes", page.Total, len(c.notes))
			}
			break
		}
	}
	for i := range max(len(got), len(c.notes)) {
		if i >= len(got) || i >= len(c.notes) || got[i] != c.notes[i] {
			c.differ("the lists part at position %d of %d and %d", i, len(got), len(c.notes))
			break
		}
	}
	return fmt.Sprintf("%d notes", len(got)), nil
}

// sample is how many notes are read in full.
const sample = 1_000

// contents compares read_note with git's blobs, for notes spread over the
// list. A long note is read piece by piece.
func (c *comparison) contents() (string, error) {
	step := max(1, len(c.notes)/sample)
	read, bytes := 0, 0
	for i := 0; i < len(c.notes); i += step {
		want, err := c.git("cat-file", "blob", "HEAD:"+c.notes[i])
		if err != nil {
			return "", err
		}
		got, err := c.whole(c.notes[i])
		var refused *harness.ToolError
		switch {
		case errors.As(err, &refused):
			if utf8.ValidString(want) && !strings.Contains(want, "\x00") {
				c.differ("%s cannot be read: %v", c.notes[i], err)
			}
		case err != nil:
			return "", err
		case got != want:
			c.differ("%s differs in content", c.notes[i])
		}
		read++
		bytes += len(want)
	}
	return fmt.Sprintf("%d notes, %.1f MB", read, float64(bytes)/1e6), nil
}

// whole reads a note to its end.
func (c *comparison) whole(note string) (string, error) {
	var b strings.Builder
	for from := 1; ; {
		args := map[string]any{"repo": c.repo, "path": note}
		if from > 1 {
			args["from_line"] = from
		}
		page, err := harness.Into[struct {
			Content   string
			To        int `json:"to_line"`
			Truncated bool
			NextSteps string `json:"next_steps"`
		}](c.client, "read_note", args)
		if err != nil {
			return "", err
		}
		b.WriteString(page.Content)
		if !page.Truncated {
			return b.String(), nil
		}
		if strings.Contains(page.NextSteps, "cut inside") {
			return "", &harness.ToolError{Text: "a line is longer than one answer"}
		}
		from = page.To + 1
	}
}

// counts compares tree with the list: each folder's count, at full depth.
func (c *comparison) counts() (string, error) {
	want := map[string]int{}
	for _, note := range c.notes {
		for dir := path.Dir(note); dir != "."; dir = path.Dir(dir) {
			if strings.Count(dir, "/") < 5 {
				want[dir+"/"]++
			}
		}
	}
	seen := 0
	for more := true; more; {
		page, err := harness.Into[struct {
			Entries []struct {
				Path  string
				Notes int
			}
			HasMore bool
		}](c.client, "tree", map[string]any{"repo": c.repo, "depth": 5, "limit": 200, "offset": seen})
		if err != nil {
			return "", err
		}
		for _, e := range page.Entries {
			if want[e.Path] != e.Notes {
				c.differ("%s has %d notes, git has %d", e.Path, e.Notes, want[e.Path])
			}
		}
		seen += len(page.Entries)
		more = page.HasMore
	}
	if seen != len(want) {
		c.differ("%d folders, git has %d", seen, len(want))
	}
	return fmt.Sprintf("%d folders", seen), nil
}

// query is one search.
type query struct {
	text  string
	regex bool
}

var queries = []query{
	{"the", false}, {"function", false}, {"Example", false}, {"](", false}, {"c#", false}, {"---", false},
	{"deprecated", false}, {"of the", false}, {"http://", false}, {"zzqqxx", false}, {"é", false}, {"100%", false},
	{`\b[A-Z]{6,}\b`, true}, {`^## .*s$`, true}, {`\d{4}-\d{2}-\d{2}`, true}, {`(foo|bar)\w+`, true},
	{`\[\[[^\]]+\]\]`, true}, {`std::\w+`, true}, {`^\s*-\s+\[ \]`, true},
}

// hits is how many lines of a search are compared.
const hits = 100

// search compares search_notes with ripgrep over the checkout.
func (c *comparison) search() (string, error) {
	if _, err := exec.LookPath("rg"); err != nil {
		return "", errors.New("ripgrep is not installed")
	}
	lines := 0
	for _, q := range queries {
		got, err := c.found(q)
		if err != nil {
			return "", err
		}
		want, err := c.ripgrep(q)
		if err != nil {
			return "", err
		}
		if !slices.Equal(got, want) {
			c.differ("search for %q: %s", q.text, firstDifference(got, want))
		}
		lines += len(got)
	}
	return fmt.Sprintf("%d queries, %d lines", len(queries), lines), nil
}

func (c *comparison) found(q query) ([]string, error) {
	page, err := harness.Into[struct {
		Matches []struct {
			Path string
			Line int
		}
	}](c.client, "search_notes", map[string]any{"repo": c.repo, "query": q.text, "regex": q.regex, "limit": hits})
	if err != nil {
		return nil, err
	}
	var list []string
	for _, m := range page.Matches {
		list = append(list, fmt.Sprintf("%s\x00%08d", m.Path, m.Line))
	}
	return list, nil
}

// ripgrep gives the same from the checkout, which has to stand at HEAD.
func (c *comparison) ripgrep(q query) ([]string, error) {
	args := []string{
		"--no-heading", "--line-number", "--smart-case", "--no-ignore", "--null", "--crlf", "--no-encoding",
		"--iglob", "*.md", "--iglob", "*.markdown",
	}
	if !q.regex {
		args = append(args, "--fixed-strings")
	}
	cmd := exec.Command("rg", append(args, "--regexp", q.text, ".")...)
	cmd.Dir = c.folder
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, n := range c.notes {
		known[n] = true
	}
	var list []string
	for line := range strings.Lines(string(out)) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "./"), "\x00")
		number, _, _ := strings.Cut(rest, ":")
		if ok && known[name] {
			list = append(list, fmt.Sprintf("%s\x00%08s", name, number))
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), hits)], nil
}

func firstDifference(got, want []string) string {
	for i := range max(len(got), len(want)) {
		g, w := "nothing", "nothing"
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			return fmt.Sprintf("at %d vault has %q, ripgrep %q", i, g, w)
		}
	}
	return "equal"
}
