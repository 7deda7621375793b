package github

import (
	"context"
	"fmt"
	"time"

	"github.com/shurcooL/githubv4"
)

// CommitInfo is one commit.
type CommitInfo struct {
	OID     string
	Tree    string
	Parents []string
	// Message is the whole message, the subject first.
	Message string
	// Author wrote the change, Committer made the commit of it.
	Author    Signature
	Committer Signature
}

// Signature is who and when, as the commit says it.
type Signature struct {
	Name  string
	Email string
	// When keeps the zone the commit was made in.
	When time.Time
}

type commitActor struct {
	Name  string
	Email string
	Date  githubv4.GitTimestamp
}

func (a *commitActor) signature() Signature {
	if a == nil {
		return Signature{}
	}
	return Signature{Name: a.Name, Email: a.Email, When: a.Date.Time}
}

type commitNode struct {
	OID     string `graphql:"oid"`
	Message string
	Tree    struct {
		OID string `graphql:"oid"`
	}
	Author    *commitActor
	Committer *commitActor
	Parents   struct {
		Nodes []struct {
			OID string `graphql:"oid"`
		}
	} `graphql:"parents(first: 100)"`
}

// CommitInfo reads one commit of a repository; IsNotFound when either is
// missing or oid is something else than a commit.
func (i *InstallationClient) CommitInfo(ctx context.Context, nodeID, oid string) (CommitInfo, error) {
	return i.client.commitInfo(ctx, nodeID, oid)
}

func (c *client) commitInfo(ctx context.Context, nodeID, oid string) (CommitInfo, error) {
	const op = "read commit"
	if !isOID(oid) {
		return CommitInfo{}, fmt.Errorf("read commit %q: not a full commit id", oid)
	}
	var q struct {
		Node *struct {
			Repo struct {
				Object *struct {
					Commit commitNode `graphql:"... on Commit"`
				} `graphql:"object(oid: $oid)"`
			} `graphql:"... on Repository"`
		} `graphql:"node(id: $id)"`
	}
	vars := map[string]any{"id": githubv4.ID(nodeID), "oid": githubv4.GitObjectID(oid)}
	if _, err := c.query(ctx, question{op: op, vars: vars}, &q); err != nil {
		return CommitInfo{}, err
	}
	if q.Node == nil || q.Node.Repo.Object == nil || q.Node.Repo.Object.Commit.OID == "" {
		return CommitInfo{}, missing(op, "the commit")
	}
	return commitOf(q.Node.Repo.Object.Commit), nil
}

func commitOf(n commitNode) CommitInfo {
	out := CommitInfo{
		OID:       n.OID,
		Tree:      n.Tree.OID,
		Message:   n.Message,
		Author:    n.Author.signature(),
		Committer: n.Committer.signature(),
	}
	for _, p := range n.Parents.Nodes {
		out.Parents = append(out.Parents, p.OID)
	}
	return out
}
