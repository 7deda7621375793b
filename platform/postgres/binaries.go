package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// oldestMajor and newestMajor bound the versions that vault's schemas and
	// settings are known to work with; a newer one is used only if no other is
	// installed.
	oldestMajor = 15
	newestMajor = 18
)

// ErrNoBinaries says that no usable Postgres is installed on this machine.
var ErrNoBinaries = errors.New("no usable Postgres is installed")

// versionLine is what `postgres --version` prints, with additions of packagers
// behind it.
var versionLine = regexp.MustCompile(`^postgres \(PostgreSQL\) ([0-9]+)`)

// binaries is one installed Postgres.
type binaries struct {
	dir   string // the folder with postgres and initdb
	major int
}

func (b binaries) path(program string) string { return filepath.Join(b.dir, program) }

// usualFolders are where packagers put the server's programs outside PATH.
func usualFolders() []string {
	return []string{
		"/usr/lib/postgresql/*/bin", // Debian, Alpine before 3.15
		"/usr/libexec/postgresql*",  // Alpine
		"/usr/pgsql-*/bin",          // the project's own RPM packages
		"/usr/local/pgsql/bin",      // built from source
		"/opt/homebrew/opt/postgresql*/bin",
		"/usr/local/opt/postgresql*/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/opt/local/lib/postgresql*/bin", // MacPorts
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/Library/PostgreSQL/*/bin",
	}
}

// findBinaries looks for an installed Postgres: in the folders of path (a PATH
// value), then in the other folders (glob patterns). want is the major version
// of an existing cluster, or 0 for the first of PATH and else the newest known
// one.
func findBinaries(ctx context.Context, path string, folders []string, want int) (binaries, error) {
	onPath := inspectAll(ctx, filepath.SplitList(path))
	found := slices.Concat(onPath, inspectAll(ctx, expand(folders)))
	if want == 0 && len(onPath) > 0 {
		return onPath[0], nil
	}
	slices.SortStableFunc(found, func(a, b binaries) int {
		return cmp.Compare(preference(b), preference(a))
	})
	for _, b := range found {
		if want == 0 || b.major == want {
			return b, nil
		}
	}
	if want != 0 && len(found) > 0 {
		return binaries{}, fmt.Errorf("%w in version %d, only %s", ErrNoBinaries, want, majors(found))
	}
	return binaries{}, ErrNoBinaries
}

// preference orders by version, those of unknown behaviour behind all others.
func preference(b binaries) int {
	if b.major > newestMajor {
		return -b.major
	}
	return b.major
}

func majors(found []binaries) string {
	var list []string
	for _, b := range found {
		list = append(list, strconv.Itoa(b.major))
	}
	return strings.Join(slices.Compact(list), ", ")
}

func expand(patterns []string) []string {
	var folders []string
	for _, p := range patterns {
		matches, _ := filepath.Glob(p) // fails only for a bad pattern
		folders = append(folders, matches...)
	}
	return folders
}

func inspectAll(ctx context.Context, folders []string) []binaries {
	var found []binaries
	for _, folder := range folders {
		if b, err := inspect(ctx, folder); err == nil {
			found = append(found, b)
		}
	}
	return found
}

// inspect reports the Postgres in a folder. The folder on PATH often holds
// links only, so that of the program itself counts: initdb and the server look
// for each other and their files beside themselves.
func inspect(ctx context.Context, folder string) (binaries, error) {
	if !filepath.IsAbs(folder) {
		return binaries{}, fmt.Errorf("%s is not an absolute path", folder)
	}
	program, err := filepath.EvalSymlinks(filepath.Join(folder, "postgres"))
	if err != nil {
		return binaries{}, err
	}
	dir := filepath.Dir(program)
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return binaries{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return binaries{}, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	return parseBinaries(dir, string(out))
}

func parseBinaries(dir, version string) (binaries, error) {
	m := versionLine.FindStringSubmatch(version)
	if m == nil {
		return binaries{}, fmt.Errorf("%s does not tell its version", dir)
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return binaries{}, fmt.Errorf("read the version of %s: %w", dir, err)
	}
	if major < oldestMajor {
		return binaries{}, fmt.Errorf("%s is Postgres %d, older than %d", dir, major, oldestMajor)
	}
	return binaries{dir: dir, major: major}, nil
}
