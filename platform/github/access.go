package github

import (
	"context"
	"slices"
	"time"

	"github.com/shurcooL/githubv4"
)

// accessPages is how many nodes fields one access query has, so that 500
// repositories are one request.
const accessPages = 5

// Access is what one access query says: who the token belongs to and which of
// the repositories asked about that person can read.
type Access struct {
	// Login, ID and NodeID name the person.
	Login  string
	ID     int64
	NodeID string
	// Repos are the readable ones, in the order they were asked for.
	Repos []RepoAccess
	// SSOBlocked are the node ids that only a single sign-on would open.
	SSOBlocked []string
	// SSO is where to do that, "" when GitHub named no trusted address.
	SSO string
	// Rate is the person's GraphQL budget after the query.
	Rate Rate
}

// RepoAccess is one readable repository.
type RepoAccess struct {
	// NodeID is the id that was asked for, in the form it was asked in.
	NodeID   string
	ID       int64
	FullName string
	Name     string
	// Permission is ADMIN, MAINTAIN, WRITE, TRIAGE or READ, or "".
	Permission string
	// CanWrite says that the person may push and the repository takes pushes.
	// Whether the App may write is a matter of the installation.
	CanWrite bool
	Archived bool
	// Empty says that the repository has no commit.
	Empty bool
	// DefaultBranch and HeadOID are "" while the branch does not exist.
	DefaultBranch string
	HeadOID       string
}

// Rate is a GraphQL budget.
type Rate struct {
	Cost      int
	Remaining int
	Reset     time.Time
}

type accessNode struct {
	Repo struct {
		ID               string `graphql:"id"`
		DatabaseID       int64  `graphql:"databaseId"`
		Name             string
		NameWithOwner    string
		ViewerPermission string
		IsArchived       bool
		IsDisabled       bool
		IsLocked         bool
		IsEmpty          bool
		DefaultBranchRef *branchRef
	} `graphql:"... on Repository"`
}

// accessQuery is the whole question. A page that is not needed is left out by
// its directive.
type accessQuery struct {
	Viewer struct {
		Login      string
		DatabaseID int64  `graphql:"databaseId"`
		ID         string `graphql:"id"`
	}
	N0        []*accessNode `graphql:"n0: nodes(ids: $n0) @include(if: $w0)"`
	N1        []*accessNode `graphql:"n1: nodes(ids: $n1) @include(if: $w1)"`
	N2        []*accessNode `graphql:"n2: nodes(ids: $n2) @include(if: $w2)"`
	N3        []*accessNode `graphql:"n3: nodes(ids: $n3) @include(if: $w3)"`
	N4        []*accessNode `graphql:"n4: nodes(ids: $n4) @include(if: $w4)"`
	RateLimit struct {
		Cost      int
		Remaining int
		ResetAt   githubv4.DateTime
	}
}

func (q *accessQuery) pages() [accessPages][]*accessNode {
	return [accessPages][]*accessNode{q.N0, q.N1, q.N2, q.N3, q.N4}
}

// Access asks in one query, of one point, whether the token is good
// (IsUnauthorized if not), whose it is, and which of the given repositories
// the person can read and write; beyond 500 it takes another query for each
// 500. A repository GitHub does not show is left out; when GitHub could not
// answer for one of them, the whole call is an error, so that a missing
// repository always means "not readable".
//
// Only ask about an installation's own repositories: a person's token also
// reads every public repository there is.
func (u *UserClient) Access(ctx context.Context, nodeIDs []string) (Access, error) {
	out, err := u.accessOf(ctx, nodeIDs[:min(len(nodeIDs), accessPages*nodesLimit)])
	if err != nil {
		return Access{}, err
	}
	rest := nodeIDs[min(len(nodeIDs), accessPages*nodesLimit):]
	for ids := range slices.Chunk(rest, accessPages*nodesLimit) {
		more, err := u.accessOf(ctx, ids)
		if err != nil {
			return Access{}, err
		}
		out.Repos = append(out.Repos, more.Repos...)
		out.SSOBlocked = append(out.SSOBlocked, more.SSOBlocked...)
		out.Rate = more.Rate
	}
	return out, nil
}

// accessOf asks about at most five hundred repositories.
func (u *UserClient) accessOf(ctx context.Context, nodeIDs []string) (Access, error) {
	const op = "ask for access"
	asked := accessAsked(nodeIDs)
	var q accessQuery
	x, err := u.client.query(ctx, question{op: op, vars: accessVars(asked), tolerated: notReadable}, &q)
	if err != nil {
		return Access{}, err
	}
	sso, _ := u.client.singleSignOn(x)
	if q.Viewer.Login == "" {
		return Access{}, &Error{Op: op, Status: 200, Message: "the answer names no person", class: classUnavailable}
	}
	out := Access{
		Login:  q.Viewer.Login,
		ID:     q.Viewer.DatabaseID,
		NodeID: q.Viewer.ID,
		SSO:    sso,
		Rate:   Rate{Cost: q.RateLimit.Cost, Remaining: q.RateLimit.Remaining, Reset: q.RateLimit.ResetAt.Time},
	}
	for n, page := range q.pages() {
		if len(page) != len(asked[n]) {
			return Access{}, wrongCount(op)
		}
		out.addPage(asked[n], page)
		for _, position := range blockedBySSO(x.body.Errors, accessAliases[n]) {
			if position < len(asked[n]) {
				out.SSOBlocked = append(out.SSOBlocked, asked[n][position])
			}
		}
	}
	return out, nil
}

var (
	accessAliases  = [accessPages]string{"n0", "n1", "n2", "n3", "n4"}
	accessSwitches = [accessPages]string{"w0", "w1", "w2", "w3", "w4"}
)

// accessAsked deals the ids out to the pages.
func accessAsked(nodeIDs []string) (asked [accessPages][]string) {
	n := 0
	for ids := range slices.Chunk(nodeIDs, nodesLimit) {
		asked[n] = ids
		n++
	}
	return asked
}

func accessVars(asked [accessPages][]string) map[string]any {
	vars := make(map[string]any, 2*accessPages)
	for n := range asked {
		vars[accessAliases[n]] = idList(asked[n])
		vars[accessSwitches[n]] = githubv4.Boolean(len(asked[n]) > 0)
	}
	return vars
}

func (a *Access) addPage(asked []string, page []*accessNode) {
	for position, node := range page {
		if node != nil && node.Repo.ID != "" {
			a.Repos = append(a.Repos, repoAccess(asked[position], node))
		}
	}
}

func repoAccess(nodeID string, node *accessNode) RepoAccess {
	r := node.Repo
	closed := r.IsArchived || r.IsDisabled || r.IsLocked
	out := RepoAccess{
		NodeID:     nodeID,
		ID:         r.DatabaseID,
		FullName:   r.NameWithOwner,
		Name:       r.Name,
		Permission: r.ViewerPermission,
		CanWrite:   !closed && mayPush(r.ViewerPermission),
		Archived:   r.IsArchived,
		Empty:      r.IsEmpty,
	}
	if r.DefaultBranchRef != nil {
		out.DefaultBranch, out.HeadOID = r.DefaultBranchRef.Name, r.DefaultBranchRef.Target.OID
	}
	return out
}

func mayPush(permission string) bool {
	switch permission {
	case "ADMIN", "MAINTAIN", "WRITE":
		return true
	}
	return false
}
