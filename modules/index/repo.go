package index

import (
	"time"

	"vault/modules/vaultdir"
	"vault/platform/git"
)

// RepoInfo is what GitHub says about a repository of the installation.
type RepoInfo struct {
	// ID is GitHub's number of the repository; it survives renames.
	ID int64
	// NodeID is GitHub's opaque id of the repository.
	NodeID string
	// Name is the repository's name, FullName the same behind its owner's.
	Name, FullName string
	// WebURL is the address of the repository's page, without a final slash.
	WebURL string
	// DefaultBranch is the branch that is read.
	DefaultBranch string
}

// Repo is one readable repository as a Snapshot sees it.
type Repo struct {
	RepoInfo
	// Branch is the branch that Head was read from.
	Branch string
	// Head is the commit that the index stands at; git.Zero for a repository
	// without a commit.
	Head git.OID
	// HeadAt is when Head was committed, in UTC; zero without a commit.
	HeadAt time.Time
	// HistoryHead is the commit that the history stands at: Head, one behind
	// it, or git.Zero.
	HistoryHead git.OID
	// Complete says that the repository has been indexed at least once. Until
	// then it looks empty.
	Complete bool
	// Done and Total count the texts of the build that runs, and Started says
	// when it began; all are zero when none does.
	Done, Total int
	Started     time.Time
	// CanWrite says whether the caller may change the repository.
	CanWrite bool
	// Dir is what the repository's .vault/ folder says.
	Dir *vaultdir.Repo

	format  int
	settled bool
}

// Progress is where a repository stands after one slice of work.
type Progress struct {
	// Complete says that the index stands at Head and nothing is left to do.
	Complete bool
	// Visible says that the index stands at Head. What may be left makes
	// searches faster.
	Visible bool
	// Done and Total count the texts of this build.
	Done, Total int
	// Head is the commit that the work leads to, or has reached.
	Head git.OID
	// Branch is the branch that Head was read from.
	Branch string
	// VaultRev identifies the .vault/ text in force at the index's head.
	VaultRev vaultdir.Rev
	// Findings are what is wrong with the .vault/ folder at the index's head.
	Findings []vaultdir.Finding
}
