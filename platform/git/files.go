package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrPathTaken says that a change would put a file where a folder is, or a
// folder where a file is.
var ErrPathTaken = errors.New("the path is taken")

// FileChange is what WriteFiles does to one path.
type FileChange struct {
	// Path is the path from the root.
	Path string
	// Mode is ModeFile, ModeExecutable or ModeSymlink; 0 keeps the mode of the
	// file that is there and is ModeFile for a new one.
	Mode uint32
	// Data is the content. Where OID is given instead, the content is that
	// blob, which must be in the repository.
	Data []byte
	OID  OID
	// Delete removes the file.
	Delete bool
}

// WriteFiles stores the tree that base becomes by the changes and gives its
// id. Base is a commit or a tree, or Zero for nothing. Only folders on the way
// to a change are read and written; folders that become empty go away.
//
// All changes happen at once, so that a file may be replaced by a folder of
// its name and the reverse. ErrNotFound when a file to delete is not there,
// ErrPathTaken when a file and a folder meet, ErrRefused for a path that git
// does not allow or that is given twice.
func (repo *Repo) WriteFiles(ctx context.Context, base OID, changes []FileChange) (OID, error) {
	root, err := plan(changes)
	if err != nil {
		return "", err
	}
	tree, err := repo.rootTree(ctx, base)
	if err != nil {
		return "", err
	}
	tree, err = repo.rewrite(ctx, tree, root)
	if err == nil && tree.IsZero() {
		return repo.WriteTree(ctx, nil)
	}
	return tree, err
}

func (repo *Repo) rootTree(ctx context.Context, base OID) (OID, error) {
	if base == Zero {
		return Zero, nil
	}
	kind, data, _, err := repo.object(ctx, base, repo.run.limits.commit)
	switch {
	case err != nil:
		return "", fmt.Errorf("read base %s: %w", base, err)
	case kind == "tree":
		return base, nil
	case kind == "commit":
		return parseCommit(base, data).Tree, nil
	}
	return "", fmt.Errorf("base %s is a %s: %w", base, kind, ErrRefused)
}

// step is one path part of the changes: something happens to the file of that
// name, below the folder of that name, or both.
type step struct {
	path   string
	change *FileChange
	below  map[string]*step
}

func plan(changes []FileChange) (*step, error) {
	root := &step{}
	for i := range changes {
		change := &changes[i]
		if err := checkChange(change); err != nil {
			return nil, err
		}
		at := root
		for name := range strings.SplitSeq(change.Path, "/") {
			if err := checkName(name); err != nil {
				return nil, fmt.Errorf("path %.200q: %w", change.Path, err)
			}
			at = at.child(name)
		}
		if at.change != nil {
			return nil, fmt.Errorf("path %.200q is given twice: %w", change.Path, ErrRefused)
		}
		at.change, at.path = change, change.Path
	}
	return root, nil
}

func checkChange(c *FileChange) error {
	switch c.Mode {
	case 0, ModeFile, ModeExecutable, ModeSymlink:
	default:
		return fmt.Errorf("path %.200q with mode %o: %w", c.Path, c.Mode, ErrRefused)
	}
	if len(c.Path) > 4096 {
		return fmt.Errorf("path %.200q is over 4096 bytes: %w", c.Path, ErrRefused)
	}
	return nil
}

func (s *step) child(name string) *step {
	if s.below == nil {
		s.below = map[string]*step{}
	}
	next := s.below[name]
	if next == nil {
		path := name
		if s.path != "" {
			path = s.path + "/" + name
		}
		next = &step{path: path}
		s.below[name] = next
	}
	return next
}

// rewrite gives the id of one folder after the changes, Zero if it is empty.
func (repo *Repo) rewrite(ctx context.Context, tree OID, s *step) (OID, error) {
	entries := map[string]TreeEntry{}
	if !tree.IsZero() {
		var err error
		if entries, err = repo.readLevel(ctx, tree); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.below)) {
		if err := repo.applyStep(ctx, entries, name, s.below[name]); err != nil {
			return "", err
		}
	}
	if len(entries) == 0 {
		return Zero, nil
	}
	data, err := encodeTree(slices.Collect(maps.Values(entries)))
	if err != nil {
		return "", err
	}
	return repo.writeObject(ctx, "tree", data)
}

// applyStep changes one name of a folder: deletions first, then the folder
// below, then the file, so that each finds the name free of the other.
func (repo *Repo) applyStep(ctx context.Context, entries map[string]TreeEntry, name string, s *step) error {
	if s.change != nil && s.change.Delete {
		if e, found := entries[name]; !found || e.Mode == ModeFolder {
			return fmt.Errorf("delete file %.200q: %w", s.path, ErrNotFound)
		}
		delete(entries, name)
	}
	if s.below != nil {
		if err := repo.applyBelow(ctx, entries, name, s); err != nil {
			return err
		}
	}
	if s.change != nil && !s.change.Delete {
		return repo.applyFile(ctx, entries, name, s)
	}
	return nil
}

func (repo *Repo) applyBelow(ctx context.Context, entries map[string]TreeEntry, name string, s *step) error {
	e, found := entries[name]
	if found && e.Mode != ModeFolder {
		return fmt.Errorf("%.200q is a file: %w", s.path, ErrPathTaken)
	}
	tree := Zero
	if found {
		tree = e.OID
	}
	tree, err := repo.rewrite(ctx, tree, s)
	if err != nil {
		return err
	}
	if tree.IsZero() {
		delete(entries, name)
		return nil
	}
	entries[name] = TreeEntry{Mode: ModeFolder, OID: tree, Path: name}
	return nil
}

func (repo *Repo) applyFile(ctx context.Context, entries map[string]TreeEntry, name string, s *step) error {
	e, found := entries[name]
	if found && e.Mode == ModeFolder {
		return fmt.Errorf("%.200q is a folder: %w", s.path, ErrPathTaken)
	}
	mode := s.change.Mode
	switch {
	case mode != 0:
	case found && (e.Mode == ModeExecutable || e.Mode == ModeSymlink):
		mode = e.Mode
	default:
		mode = ModeFile
	}
	oid := s.change.OID
	if oid == "" {
		var err error
		if oid, err = repo.WriteBlob(ctx, s.change.Data); err != nil {
			return err
		}
	}
	entries[name] = TreeEntry{Mode: mode, OID: oid, Path: name}
	return nil
}

// readLevel reads one level of a tree, by name. Modes and names are not judged:
// what a change does not touch stays as it is.
func (repo *Repo) readLevel(ctx context.Context, tree OID) (map[string]TreeEntry, error) {
	list, err := repo.Entries(ctx, tree)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]TreeEntry, len(list))
	for _, e := range list {
		entries[e.Path] = e
	}
	if len(entries) != len(list) {
		return nil, fmt.Errorf("tree %s has a name twice: %w", tree, ErrFormat)
	}
	return entries, nil
}
