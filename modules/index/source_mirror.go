package index

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"vault/platform/git"
	"vault/platform/github"
)

const (
	// mirrorFilter leaves large files out of a mirror; the few that are text
	// are read one by one.
	mirrorFilter = "blob:limit=1m"
	// versionDepth bounds how many commits are looked through for the last
	// good version of a settings file.
	versionDepth = 100_000
	// versionSize bounds a version of such a file, in bytes.
	versionSize = 1 << 20
)

// MirrorOptions say how a mirror is kept in step with its origin.
type MirrorOptions struct {
	// URL is where the mirror fetches from; "" reads the repository as it is.
	URL string
	// Token authenticates the fetch; "" sends none.
	Token string
	// Blob reads a blob that the mirror left out for its size; nil when the
	// mirror is complete.
	Blob func(ctx context.Context, oid git.OID, max int64) ([]byte, error)
}

type mirrorSource struct {
	repo    *git.Repo
	options MirrorOptions
}

// MirrorSource reads a repository from a bare copy of it on this machine,
// which Head brings up to date.
func MirrorSource(repo *git.Repo, options MirrorOptions) Source {
	return mirrorSource{repo: repo, options: options}
}

func (m mirrorSource) Head(ctx context.Context, at Head) (Head, error) {
	ref := "refs/heads/" + at.Branch
	oid, err := m.ref(ctx, ref)
	if err != nil {
		return Head{}, err
	}
	if m.options.URL == "" || at.OID != "" && at.OID == oid {
		return Head{Branch: at.Branch, OID: oid}, nil
	}
	err = m.repo.Fetch(ctx, git.FetchOptions{
		URL:      m.options.URL,
		Token:    m.options.Token,
		Refspecs: []string{"+" + ref + ":" + ref},
		Filter:   mirrorFilter,
	})
	if errors.Is(err, git.ErrNotFound) {
		// The branch is gone, or the repository: the caller's own question
		// to GitHub tells which. A branch that is not there has no notes.
		return Head{Branch: at.Branch, OID: git.Zero}, nil
	}
	if err != nil {
		return Head{}, fmt.Errorf("update the mirror: %w", err)
	}
	oid, err = m.ref(ctx, ref)
	return Head{Branch: at.Branch, OID: oid}, err
}

func (m mirrorSource) ref(ctx context.Context, name string) (git.OID, error) {
	oid, err := m.repo.Ref(ctx, name)
	if errors.Is(err, git.ErrNotFound) {
		return git.Zero, nil
	}
	if err != nil {
		return "", fmt.Errorf("read the mirror's branch: %w", err)
	}
	return oid, nil
}

func (m mirrorSource) Diff(ctx context.Context, from, to git.OID) ([]FileChange, error) {
	var out []FileChange
	var unsized []git.OID
	err := m.repo.Diff(ctx, from, to, func(c git.Change) error {
		if c.Status == 'D' {
			out = append(out, FileChange{Path: c.Path, Removed: true})
			return nil
		}
		out = append(out, FileChange{Path: c.Path, Mode: c.NewMode, OID: c.NewOID, Size: -1})
		if c.NewMode != git.ModeSubmodule {
			unsized = append(unsized, c.NewOID)
		}
		return nil
	})
	if errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %w", ErrNoDiff, err)
	}
	if err != nil {
		return nil, fmt.Errorf("compare in the mirror: %w", err)
	}
	sizes, err := m.sizes(ctx, unsized)
	if err != nil {
		return nil, err
	}
	for i, c := range out {
		if size, ok := sizes[c.OID]; ok && !c.Removed {
			out[i].Size = size
		}
	}
	return out, nil
}

// sizes reads how long blobs are, without their contents.
func (m mirrorSource) sizes(ctx context.Context, oids []git.OID) (map[git.OID]int64, error) {
	sizes := make(map[git.OID]int64, len(oids))
	if len(oids) == 0 {
		return sizes, nil
	}
	err := m.repo.Blobs(ctx, oids, 0, func(b git.Blob) error {
		if !b.Missing {
			sizes[b.OID] = b.Size
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read sizes in the mirror: %w", err)
	}
	return sizes, nil
}

func (m mirrorSource) Tree(ctx context.Context, at git.OID) ([]FileChange, error) {
	var out []FileChange
	err := m.repo.Tree(ctx, at, func(e git.TreeEntry) error {
		out = append(out, FileChange{Path: e.Path, Mode: e.Mode, OID: e.OID, Size: e.Size})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the tree in the mirror: %w", err)
	}
	return out, nil
}

func (m mirrorSource) Blobs(ctx context.Context, oids []git.OID, max int64, fn func(git.Blob) error) error {
	var left []git.OID
	err := m.repo.Blobs(ctx, oids, max, func(b git.Blob) error {
		if b.Missing && m.options.Blob != nil {
			left = append(left, b.OID)
			return nil
		}
		return fn(b)
	})
	if err != nil {
		return err
	}
	for _, oid := range left {
		if err := fetchOne(ctx, m.options.Blob, oid, max, fn); err != nil {
			return err
		}
	}
	return nil
}

func (m mirrorSource) Commit(ctx context.Context, oid git.OID) (CommitInfo, error) {
	c, err := m.repo.Commit(ctx, oid)
	if err != nil {
		return CommitInfo{}, fmt.Errorf("read the commit in the mirror: %w", err)
	}
	return CommitInfo{
		OID: c.OID, Tree: c.Tree, Parents: c.Parents,
		Author: c.Author, Committer: c.Committer, Subject: c.Subject,
	}, nil
}

func (m mirrorSource) Versions(
	ctx context.Context, at git.OID, path string, fn func(oid git.OID, data []byte) bool,
) error {
	seen := make(map[git.OID]bool)
	for range versionDepth {
		c, err := m.repo.Commit(ctx, at)
		if errors.Is(err, git.ErrNotFound) {
			return nil // where a shallow history was cut off
		}
		if err != nil {
			return fmt.Errorf("walk the mirror's history: %w", err)
		}
		oid, err := m.fileAt(ctx, c.Tree, path)
		if err != nil {
			return err
		}
		if oid != "" && !seen[oid] {
			seen[oid] = true
			data, err := m.repo.Blob(ctx, oid, versionSize)
			switch {
			case errors.Is(err, git.ErrTooLarge) || errors.Is(err, git.ErrNotFound):
			case err != nil:
				return fmt.Errorf("read an old version in the mirror: %w", err)
			case !fn(oid, data):
				return nil
			}
		}
		if len(c.Parents) == 0 {
			return nil
		}
		at = c.Parents[0]
	}
	return nil
}

// fileAt gives the blob of an ordinary file in a tree, "" if there is none.
func (m mirrorSource) fileAt(ctx context.Context, tree git.OID, path string) (git.OID, error) {
	for {
		name, rest, deeper := strings.Cut(path, "/")
		entries, err := m.repo.Entries(ctx, tree)
		if err != nil {
			return "", fmt.Errorf("read a tree in the mirror: %w", err)
		}
		var found git.TreeEntry
		for _, e := range entries {
			if e.Path == name {
				found = e
			}
		}
		switch {
		case !deeper && regular(found.Mode):
			return found.OID, nil
		case deeper && found.Mode == git.ModeFolder:
			tree, path = found.OID, rest
		default:
			return "", nil
		}
	}
}

// fetchOne reads one blob by itself and passes it on.
func fetchOne(
	ctx context.Context, read func(context.Context, git.OID, int64) ([]byte, error),
	oid git.OID, max int64, fn func(git.Blob) error,
) error {
	data, err := read(ctx, oid, max)
	switch {
	case errors.Is(err, git.ErrTooLarge) || errors.Is(err, github.ErrTooLarge):
		return fn(git.Blob{OID: oid, Size: -1, TooLarge: true})
	case errors.Is(err, git.ErrNotFound) || github.IsNotFound(err):
		return fn(git.Blob{OID: oid, Size: -1, Missing: true})
	case err != nil:
		return fmt.Errorf("read a blob by itself: %w", err)
	}
	return fn(git.Blob{OID: oid, Data: data, Size: int64(len(data))})
}
