package github

import (
	"context"
	"slices"
)

// Head is where a repository's default branch stands.
type Head struct {
	// NodeID is the id that was asked for.
	NodeID string
	// Missing says that the repository is gone or out of the token's reach;
	// nothing else is set then.
	Missing bool
	// ID is the repository's number.
	ID int64
	// FullName is "owner/name" as it is now.
	FullName string
	// Branch is the default branch, "" when it does not exist.
	Branch string
	// OID is the commit the branch names, "" in an empty repository.
	OID string
	// Empty says that the repository has no commit.
	Empty bool
}

type headNode struct {
	Repo struct {
		ID               string `graphql:"id"`
		DatabaseID       int64  `graphql:"databaseId"`
		NameWithOwner    string
		IsEmpty          bool
		DefaultBranchRef *branchRef
	} `graphql:"... on Repository"`
}

type branchRef struct {
	Name   string
	Target struct {
		OID string `graphql:"oid"`
	}
}

// Heads reads the default branches of repositories by node id, one point of
// the budget for each hundred. The answer is in the order of nodeIDs.
func (i *InstallationClient) Heads(ctx context.Context, nodeIDs []string) ([]Head, error) {
	out := make([]Head, 0, len(nodeIDs))
	for ids := range slices.Chunk(nodeIDs, nodesLimit) {
		heads, err := i.headsOf(ctx, ids)
		if err != nil {
			return nil, err
		}
		out = append(out, heads...)
	}
	return out, nil
}

func (i *InstallationClient) headsOf(ctx context.Context, ids []string) ([]Head, error) {
	const op = "read heads"
	var q struct {
		Nodes []*headNode `graphql:"nodes(ids: $ids)"`
	}
	ask := question{op: op, vars: map[string]any{"ids": idList(ids)}, tolerated: notReadable}
	if _, err := i.client.query(ctx, ask, &q); err != nil {
		return nil, err
	}
	if len(q.Nodes) != len(ids) {
		return nil, wrongCount(op)
	}
	out := make([]Head, len(ids))
	for n, node := range q.Nodes {
		out[n] = headOf(ids[n], node)
	}
	return out, nil
}

func headOf(id string, node *headNode) Head {
	if node == nil || node.Repo.ID == "" {
		return Head{NodeID: id, Missing: true}
	}
	h := Head{
		NodeID:   id,
		ID:       node.Repo.DatabaseID,
		FullName: node.Repo.NameWithOwner,
		Empty:    node.Repo.IsEmpty,
	}
	if ref := node.Repo.DefaultBranchRef; ref != nil {
		h.Branch, h.OID = ref.Name, ref.Target.OID
	}
	return h
}

// wrongCount is the answer that does not match the question, so that no
// position of it can be trusted.
func wrongCount(op string) *Error {
	return &Error{Op: op, Status: 200, Message: "the answer has another length than the question", class: classUnavailable}
}
