package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
)

// Object is the beginning of one stored object.
type Object struct {
	// Kind is "blob", "tree", "commit" or "tag".
	Kind string
	// Data is the content, cut at what was asked for.
	Data []byte
	// Size is the number of bytes of the whole content.
	Size int64
}

// Object reads an object of any kind as it is stored, at most max bytes of it.
// ErrNotFound if the repository has none of that id.
func (repo *Repo) Object(ctx context.Context, oid OID, max int64) (Object, error) {
	kind, data, size, err := repo.object(ctx, oid, max)
	if err != nil {
		return Object{}, fmt.Errorf("read object %s: %w", oid, err)
	}
	return Object{Kind: kind, Data: data, Size: size}, nil
}

// maxTreeObject is the largest single folder that is read: about a million
// entries.
const maxTreeObject = 64 << 20

// Entries lists one folder, not walking into those below, in git's order. The
// sizes are not known (-1) and the paths are names. ErrNotFound if the
// repository has no tree of that id.
func (repo *Repo) Entries(ctx context.Context, tree OID) ([]TreeEntry, error) {
	kind, data, size, err := repo.object(ctx, tree, maxTreeObject)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read tree %s: %w", tree, err)
	case kind != "tree":
		return nil, fmt.Errorf("read tree %s: it is a %s: %w", tree, kind, ErrNotFound)
	case size > maxTreeObject:
		return nil, fmt.Errorf("read tree %s: its %d bytes are %w", tree, size, ErrTooLarge)
	}
	return parseTree(data, len(tree)/2)
}

// parseTree reads "<mode> SP <name> NUL <binary id>" entries.
func parseTree(data []byte, idBytes int) ([]TreeEntry, error) {
	var entries []TreeEntry
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte{' '})
		name, rest, found := bytes.Cut(rest, []byte{0})
		if !ok || !found || len(rest) < idBytes {
			return nil, fmt.Errorf("a tree object ends early: %w", ErrFormat)
		}
		number, err := parseMode(mode)
		if err != nil {
			return nil, err
		}
		entries = append(entries, TreeEntry{
			Mode: number, Type: kindOfMode(number), OID: OID(hex.EncodeToString(rest[:idBytes])),
			Size: -1, Path: string(name),
		})
		data = rest[idBytes:]
	}
	return entries, nil
}

func kindOfMode(mode uint32) string {
	switch mode {
	case ModeFolder:
		return "tree"
	case ModeSubmodule:
		return "commit"
	}
	return "blob"
}
