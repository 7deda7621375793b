package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
)

// The modes of a tree entry.
const (
	ModeFile       uint32 = 0o100644
	ModeExecutable uint32 = 0o100755
	ModeSymlink    uint32 = 0o120000
	ModeSubmodule  uint32 = 0o160000
	ModeFolder     uint32 = 0o040000
)

// TreeEntry is one entry of a tree.
type TreeEntry struct {
	// Mode is the mode as git has it, in octal: see ModeFile.
	Mode uint32
	// Type is "blob", "tree" or "commit" (a submodule).
	Type string
	OID  OID
	// Size is the number of bytes of a blob; -1 when it is not known, because
	// the blob is not here or the entry is none.
	Size int64
	// Path is the path from the root, in raw bytes.
	Path string
}

// Tree lists every file below a commit (or a tree), folders walked and not
// listed, in git's order. Zero lists nothing. An error of fn ends the walk and
// is returned, wrapped; ErrTooLarge when there are more than two million
// entries.
func (repo *Repo) Tree(ctx context.Context, commit OID, fn func(TreeEntry) error) error {
	if err := check(commit); err != nil || commit.IsZero() {
		return err
	}
	left := repo.run.limits.entries
	err := repo.walk(ctx, call{
		args: []string{"ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", string(commit)},
	}, func(out io.Reader) error {
		return records(out, func(record []byte) error {
			if left--; left < 0 {
				return fmt.Errorf("the tree is %w", ErrTooLarge)
			}
			entry, err := parseTreeEntry(record)
			if err != nil {
				return err
			}
			return fn(entry)
		})
	})
	return absent(err, "tree of "+string(commit))
}

// records splits NUL-terminated output.
func records(out io.Reader, fn func([]byte) error) error {
	r := bufio.NewReaderSize(out, 256<<10)
	var long []byte
	for {
		record, err := r.ReadSlice(0)
		switch {
		case err == bufio.ErrBufferFull:
			if long = append(long, record...); len(long) > maxRecord {
				return fmt.Errorf("a path is %w", ErrTooLarge)
			}
			continue
		case err == io.EOF && len(record)+len(long) == 0:
			return nil
		case err == io.EOF:
			return errShort
		case err != nil:
			return err
		}
		if long = append(long, record...); err == nil {
			record = long[:len(long)-1]
		}
		if err := fn(record); err != nil {
			return err
		}
		long = long[:0]
	}
}

// maxRecord is the longest record read: no system has longer paths, but a
// crafted tree can.
const maxRecord = 1 << 20

// parseTreeEntry reads "<mode> SP <type> SP <oid> SP+ <size> TAB <path>".
func parseTreeEntry(record []byte) (TreeEntry, error) {
	meta, path, ok := bytes.Cut(record, []byte{'\t'})
	fields := bytes.Fields(meta)
	if !ok || len(fields) != 4 {
		return TreeEntry{}, fmt.Errorf("unexpected answer of git ls-tree: %.200q", record)
	}
	mode, err := parseMode(fields[0])
	if err != nil {
		return TreeEntry{}, err
	}
	size, err := strconv.ParseInt(string(fields[3]), 10, 64)
	if err != nil {
		size = -1 // "-" for what has no size, "BAD" for a blob that is not here
	}
	return TreeEntry{
		Mode: mode, Type: string(fields[1]), OID: OID(fields[2]), Size: size, Path: string(path),
	}, nil
}

func parseMode(octal []byte) (uint32, error) {
	mode, err := strconv.ParseUint(string(octal), 8, 32)
	if err != nil {
		return 0, fmt.Errorf("unexpected mode %.20q from git", octal)
	}
	return uint32(mode), nil
}

// absent turns git's words for a missing object into ErrNotFound.
func absent(err error, what string) error {
	switch {
	case err == nil:
		return nil
	case said(err, "Not a valid", "not a tree object", "bad object", "bad revision", "bad tree", "unable to read tree", "Could not read"):
		return fmt.Errorf("%s: %w: %w", what, ErrNotFound, err)
	}
	return fmt.Errorf("read %s: %w", what, err)
}
