package index

import (
	"errors"
	"time"

	"vault/platform/git"
)

var (
	// ErrHeadMoved says that the index does not stand at Delta.From: somebody
	// else moved it, and what was planned has to be planned anew.
	ErrHeadMoved = errors.New("the head of the index has moved")
	// ErrUnknownRepo says that the repository is not one of the installation,
	// or no longer.
	ErrUnknownRepo = errors.New("not a repository of this index")
	// ErrNoText says that a text is wanted that is neither stored nor given.
	ErrNoText = errors.New("the text of a file is not at hand")
)

// FileChange is one path that differs between two commits, or one entry of a
// tree.
type FileChange struct {
	// Path is the path as git has it, in bytes.
	Path string
	// Removed says that the path is gone; nothing else is set then.
	Removed bool
	// Mode is git's.
	Mode uint32
	// OID is the blob, or the commit of a submodule.
	OID git.OID
	// Size is the blob's length in bytes, -1 when it is not known.
	Size int64
}

// Content is the bytes of one blob.
type Content struct {
	OID  git.OID
	Data []byte
}

// CommitInfo is one commit, as the index keeps it.
type CommitInfo struct {
	OID, Tree git.OID
	Parents   []git.OID
	// Author and Committer keep the zone of their time.
	Author, Committer git.Signature
	Subject           string
}

// VaultFile is one file below .vault/.
type VaultFile struct {
	// Path is the path in the repository.
	Path string
	// OID and Text are the version at head. Text is nil when it is no text.
	OID  git.OID
	Text *string
	// UsedOID and UsedText are the version in force; git.Zero and nil when no
	// version ever was good.
	UsedOID  git.OID
	UsedText *string
}

// Delta is one move of a repository's head.
type Delta struct {
	// Repo is GitHub's number of the repository.
	Repo int64
	// From is the commit that the index must stand at, To the one it moves
	// to; git.Zero is a repository without a commit.
	From, To git.OID
	// Branch is the branch that To was read from; "" keeps what is recorded.
	Branch string
	// Files are all the paths that differ between From and To.
	Files []FileChange
	// Contents are blobs among Files that the index may not have yet.
	Contents []Content
	// Commit describes To; nil when To is git.Zero.
	Commit *CommitInfo
	// Vault is the whole .vault/ folder at To. nil when the move does not
	// touch it.
	Vault *[]VaultFile
}

// committedAt gives the time of To, or nil.
func (d Delta) committedAt() *time.Time {
	if d.Commit == nil {
		return nil
	}
	at := d.Commit.Committer.When.UTC()
	return &at
}
