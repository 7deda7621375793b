package compare

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// ErrNoRipgrep says that ripgrep is not installed.
var ErrNoRipgrep = errors.New("ripgrep is not installed")

// Ripgrep finds lines with ripgrep in a folder that Export wrote.
func Ripgrep(dir string, q Query) ([]Hit, error) {
	if _, err := exec.LookPath("rg"); err != nil {
		return nil, ErrNoRipgrep
	}
	args := []string{"--json", "--no-config", "--no-ignore", "--hidden", "--text", "--crlf", "--encoding", "none", "--ignore-case"}
	if q.Case {
		args = append(args, "--case-sensitive")
	}
	if !q.Regex {
		args = append(args, "--fixed-strings")
	}
	text := q.Text
	if q.Ripgrep != "" {
		text = q.Ripgrep
	}
	cmd := exec.Command("rg", append(args, "--regexp", text, ".")...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, nil
	}
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("rg: %w: %s", err, exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	return hitsOf(out)
}

// hitsOf reads ripgrep's messages, and puts what they found in order.
func hitsOf(out []byte) ([]Hit, error) {
	var hits []Hit
	lines := bufio.NewReader(bytes.NewReader(out))
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 || err != nil {
			break
		}
		var m struct {
			Type string
			Data struct {
				Path struct{ Text string }
				Line int `json:"line_number"`
			}
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, fmt.Errorf("read what rg found: %w", err)
		}
		if m.Type == "match" {
			hits = append(hits, Hit{strings.TrimPrefix(m.Data.Path.Text, "./"), m.Data.Line})
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		if a.Path != b.Path {
			return strings.Compare(a.Path, b.Path)
		}
		return a.Line - b.Line
	})
	return hits, nil
}

// ByBytes keeps the notes in which ripgrep, which goes by bytes, means the same
// as vault: in NFC, without a byte order mark and without carriage returns
// other than at the ends of lines.
func ByBytes(notes []Note) map[string]bool {
	same := map[string]bool{}
	for _, n := range notes {
		odd := strings.HasPrefix(n.Text, "\ufeff") || strings.Contains(strings.ReplaceAll(n.Text, "\r\n", "\n"), "\r")
		same[n.Path] = !odd && n.Readable() && norm.NFC.IsNormalString(n.Text)
	}
	return same
}

// Keep keeps the hits in some notes.
func Keep(hits []Hit, in map[string]bool) []Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool { return !in[h.Path] })
}

// Difference says where two lists first differ; "" is nowhere.
func Difference(got, want []Hit) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("%q line %d is missing (%d of %d found)", want[i].Path, want[i].Line, len(got), len(want))
		case i >= len(want):
			return fmt.Sprintf("%q line %d is too much (%d instead of %d)", got[i].Path, got[i].Line, len(got), len(want))
		case got[i] != want[i]:
			return fmt.Sprintf("hit %d is %q line %d, want %q line %d", i, got[i].Path, got[i].Line, want[i].Path, want[i].Line)
		}
	}
	return ""
}
