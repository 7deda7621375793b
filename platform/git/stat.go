package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// FileStat is one file that differs between two commits, with its size of
// change.
type FileStat struct {
	// Change has the status 'R' besides those of Diff: the file Old came to
	// be Path.
	Change
	// Old is the path before a rename, "" otherwise.
	Old string
	// Added and Removed count lines; both are 0 for binary content.
	Added, Removed int
}

// errEnough ends the reading of an answer whose rest is not wanted.
var errEnough = errors.New("enough was read")

// Stat lists the files that differ between two commits, renames found by
// similarity as git does it, at most max of them, and whether there are more.
// Zero stands for the empty tree.
func (repo *Repo) Stat(ctx context.Context, from, to OID, max int) (files []FileStat, more bool, err error) {
	if err := check(from, to); err != nil || from == to {
		return nil, false, err
	}
	files, err = repo.stat(ctx, from, to, max, nil)
	if !errors.Is(err, errEnough) {
		return files, false, absent(err, fmt.Sprintf("difference from %s to %s", from, to))
	}
	counted, err := repo.stat(ctx, from, to, 2*max, pathsOf(files))
	if err != nil {
		return nil, false, absent(err, fmt.Sprintf("difference from %s to %s", from, to))
	}
	byPath := make(map[string]FileStat, len(counted))
	for _, f := range counted {
		byPath[f.Path] = f
	}
	for i := range files {
		files[i].Added, files[i].Removed = byPath[files[i].Path].Added, byPath[files[i].Path].Removed
	}
	return files, true, nil
}

func pathsOf(files []FileStat) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.Old != "" {
			paths = append(paths, f.Old)
		}
	}
	return paths
}

// stat runs one comparison, narrowed to paths if there are any. Git writes all
// statuses before it counts the first line, so a long list is cut off before
// the expensive part. There is no --text here: what git takes for binary
// counts as no lines.
func (repo *Repo) stat(ctx context.Context, from, to OID, max int, paths []string) ([]FileStat, error) {
	args := []string{
		"diff-tree", "-r", "-z", "--raw", "--numstat", "--find-renames=50%", "-l1000", "--no-abbrev",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options",
		string(treeOr(from, to)), string(treeOr(to, from)), "--",
	}
	reader := &statReader{max: max}
	err := repo.walk(ctx, call{args: append(args, paths...)}, func(out io.Reader) error {
		return records(out, reader.record)
	})
	return reader.files, err
}

// statReader takes the records of --raw --numstat -z: for each file its meta
// record and one or two paths, then for each file its counts, whose paths
// follow on their own if it was renamed.
type statReader struct {
	max     int
	files   []FileStat
	pending []byte // the meta record whose paths are awaited
	old     *string
	counted int
	skip    int // paths of a count that only repeat
}

func (s *statReader) record(record []byte) error {
	switch {
	case s.pending != nil:
		return s.path(record)
	case s.skip > 0:
		s.skip--
		return nil
	case len(record) > 0 && record[0] == ':':
		if len(s.files) == s.max {
			return errEnough
		}
		s.pending = bytes.Clone(record)
		return nil
	}
	return s.count(record)
}

func (s *statReader) path(record []byte) error {
	fields := bytes.Fields(s.pending)
	status := fields[len(fields)-1]
	if s.old == nil && len(status) > 0 && (status[0] == 'R' || status[0] == 'C') {
		old := string(record)
		s.old = &old
		return nil
	}
	change, err := parseChange(s.pending, record)
	if err != nil {
		return err
	}
	file := FileStat{Change: change}
	if s.old != nil {
		file.Old = *s.old
	}
	s.files = append(s.files, file)
	s.pending, s.old = nil, nil
	return nil
}

// count reads "<added> TAB <removed> TAB <path>", "-" standing for binary.
func (s *statReader) count(record []byte) error {
	fields := bytes.SplitN(record, []byte{'\t'}, 3)
	if len(fields) != 3 || s.counted >= len(s.files) {
		return fmt.Errorf("unexpected answer of git diff-tree: %.200q", record)
	}
	if len(fields[2]) == 0 {
		s.skip = 2
	}
	file := &s.files[s.counted]
	s.counted++
	if fields[0][0] == '-' {
		return nil
	}
	added, errAdded := strconv.Atoi(string(fields[0]))
	removed, errRemoved := strconv.Atoi(string(fields[1]))
	file.Added, file.Removed = added, removed
	return errors.Join(errAdded, errRemoved)
}
