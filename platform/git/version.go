package git

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// version is a git version as major, minor, patch.
type version [3]int

// minimum is the oldest git whose options are all used here: cat-file
// --batch-command (2.36) and packObjectsHook read from protected configuration
// only (2.38); 2.39 is the oldest that still gets security fixes.
var minimum = version{2, 39, 0}

// reftable is the first git that reads the reftable ref format.
var reftable = version{2, 45, 0}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) before(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// parseVersion reads the answer of "git version". Distributors append words
// of their own ("2.39.5 (Apple Git-154)", "2.45.0.windows.1", "2.46.0-rc1").
func parseVersion(answer string) (version, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(answer), "git version ")
	if !ok {
		return version{}, fmt.Errorf("unexpected answer to git version: %.100q", answer)
	}
	text, _, _ = strings.Cut(text, " ")
	var v version
	for i, part := range strings.SplitN(text, ".", 4)[:min(3, strings.Count(text, ".")+1)] {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		n, err := strconv.Atoi(digits)
		if err != nil && i < 2 {
			return version{}, fmt.Errorf("unexpected answer to git version: %.100q", answer)
		}
		v[i] = n
	}
	return v, nil
}

func (r *Runner) askVersion(ctx context.Context) (version, error) {
	var answer []byte
	err := r.run(ctx, call{args: []string{"version"}, limit: 4096, read: readInto(&answer)})
	if err != nil {
		return version{}, fmt.Errorf("ask %s for its version: %w", r.binary, err)
	}
	v, err := parseVersion(string(answer))
	if err != nil {
		return version{}, err
	}
	if v.before(minimum) {
		return version{}, fmt.Errorf("git %s at %s is too old; install git %s or newer", v, r.binary, minimum)
	}
	return v, nil
}

// readInto keeps the whole output of a process.
func readInto(to *[]byte) func(io.Reader) error {
	return func(out io.Reader) (err error) {
		*to, err = io.ReadAll(out)
		return err
	}
}
