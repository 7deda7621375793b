package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Change is one path that differs between two trees.
type Change struct {
	// Status is 'A' added, 'M' modified, 'D' deleted or 'T' type changed.
	Status           byte
	OldMode, NewMode uint32
	// OldOID and NewOID are Zero where there is no file.
	OldOID, NewOID OID
	// Path is the path from the root, in raw bytes.
	Path string
}

// Diff lists the files that differ between two commits (or trees), in git's
// order. Zero stands for the empty tree. Renames are not looked for. An error
// of fn ends the walk and is returned, wrapped.
func (repo *Repo) Diff(ctx context.Context, from, to OID, fn func(Change) error) error {
	if err := check(from, to); err != nil || from == to {
		return err
	}
	args := []string{
		"diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--text",
		"--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--end-of-options",
		string(treeOr(from, to)), string(treeOr(to, from)),
	}
	left := repo.run.limits.entries
	err := repo.walk(ctx, call{args: args}, func(out io.Reader) error {
		var meta []byte
		return records(out, func(record []byte) error {
			if meta == nil {
				meta = append([]byte{}, record...)
				return nil
			}
			if left--; left < 0 {
				return fmt.Errorf("the difference is %w", ErrTooLarge)
			}
			change, err := parseChange(meta, record)
			if meta = nil; err != nil {
				return err
			}
			return fn(change)
		})
	})
	return absent(err, fmt.Sprintf("difference from %s to %s", from, to))
}

// parseChange reads ":<old mode> <new mode> <old oid> <new oid> <status>" and
// the path that follows it as a record of its own.
func parseChange(meta, path []byte) (Change, error) {
	fields := bytes.Fields(bytes.TrimPrefix(meta, []byte{':'}))
	if len(fields) != 5 || len(fields[4]) == 0 {
		return Change{}, fmt.Errorf("unexpected answer of git diff-tree: %.200q", meta)
	}
	old, err := parseMode(fields[0])
	if err != nil {
		return Change{}, err
	}
	now, err := parseMode(fields[1])
	if err != nil {
		return Change{}, err
	}
	return Change{
		Status: fields[4][0], OldMode: old, NewMode: now,
		OldOID: OID(fields[2]), NewOID: OID(fields[3]), Path: string(path),
	}, nil
}
