package auth

import (
	"slices"
	"time"

	"vault/modules/index"
	"vault/platform/github"
)

// KnownRepo is a repository of an installation, as the installation lists it.
type KnownRepo struct {
	ID     int64
	NodeID string
	// Name is the repository's name without its owner.
	Name string
}

// Request asks what a person may read of one installation.
type Request struct {
	// Token is the person's GitHub token.
	Token github.Secret
	// Installation is the installation's number.
	Installation int64
	// Epoch is the installation's epoch as the caller knows it. It only
	// grows; an answer is never older than the highest epoch this process has
	// been told of.
	Epoch int64
	// Repositories are the installation's own; only these are asked about.
	Repositories []KnownRepo
}

// Access is what a person may read of one installation. It is shared between
// callers and never changed.
type Access struct {
	// Person is whose token it is.
	Person index.Person
	// Scope opens the readable repositories in the index.
	Scope index.Scope
	// Readable are the numbers of the readable repositories, ascending; at
	// least one.
	Readable []int64
	// Checked is when GitHub was asked.
	Checked time.Time
	// Unconfirmed says that GitHub did not answer when it was asked again, so
	// that the answer of Checked still stands.
	Unconfirmed bool
}

// accessFrom joins GitHub's answer with the repositories asked about. A
// repository counts only when both its ids are the ones we know.
func accessFrom(repos []KnownRepo, answer github.Access, checked time.Time) Access {
	known := make(map[string]KnownRepo, len(repos))
	for _, r := range repos {
		known[r.NodeID] = r
	}
	person := index.Person{ID: answer.ID, NodeID: answer.NodeID, Login: answer.Login}
	out := Access{Person: person, Checked: checked}
	readable := make([]index.Readable, 0, len(answer.Repos))
	for _, r := range answer.Repos {
		ours, ok := known[r.NodeID]
		if !ok || ours.ID != r.ID {
			continue
		}
		readable = append(readable, index.Readable{ID: ours.ID, Name: ours.Name, CanWrite: r.CanWrite})
		out.Readable = append(out.Readable, ours.ID)
	}
	slices.Sort(out.Readable)
	out.Readable = slices.Compact(out.Readable)
	out.Scope = index.NewScope(person, readable)
	return out
}
