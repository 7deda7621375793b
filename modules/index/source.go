package index

import (
	"context"
	"errors"

	"vault/platform/git"
)

var (
	// ErrNoDiff says that a source cannot tell the difference between two
	// commits: it does not know one of them, or there are too many changes.
	ErrNoDiff = errors.New("the difference cannot be told from here")
	// ErrGone says that the repository is no longer there for us.
	ErrGone = errors.New("the repository is gone or out of reach")
)

// Head is where a branch stands.
type Head struct {
	// Branch is the branch's name.
	Branch string
	// OID is its commit; git.Zero when the branch does not exist or the
	// repository is empty.
	OID git.OID
}

// Source is where the state of one repository is read from. Paths are git's,
// in bytes.
type Source interface {
	// Head reads where the default branch stands now. at holds what the
	// caller knows: the branch's name, and the commit if another source told
	// it. ErrGone when there is no such repository.
	Head(ctx context.Context, at Head) (Head, error)
	// Diff lists the paths that differ between two commits, whatever their
	// relation. ErrNoDiff says that another way has to be taken.
	Diff(ctx context.Context, from, to git.OID) ([]FileChange, error)
	// Tree lists all files of a commit. ErrNoDiff as for Diff.
	Tree(ctx context.Context, at git.OID) ([]FileChange, error)
	// Blobs reads contents up to max bytes, in any order. One that cannot be
	// had comes as missing.
	Blobs(ctx context.Context, oids []git.OID, max int64, fn func(git.Blob) error) error
	// Commit reads one commit.
	Commit(ctx context.Context, oid git.OID) (CommitInfo, error)
	// Versions gives the contents that a path had, newest first, each change
	// once, along the first parents from a commit on, until fn returns false.
	// ErrNoDiff says that this source knows no history.
	Versions(ctx context.Context, at git.OID, path string, fn func(oid git.OID, data []byte) bool) error
}
