package localhub

import (
	"context"
	"errors"
	"strings"
	"time"

	"vault/platform/git"
	"vault/platform/localhub/graphql"
)

// maxPageSize is GitHub's limit for one page of a connection.
const maxPageSize = 100

// commitNode is the value of the type Commit.
type commitNode struct{ gitObject }

// TypeName implements graphql.Object.
func (commitNode) TypeName() string { return "Commit" }

// Field implements graphql.Object.
func (n commitNode) Field(ctx context.Context, name string, args graphql.Args) (any, error) {
	c, err := n.s.commit(ctx, n.v, n.oid)
	if err != nil {
		return nil, err
	}
	switch name {
	case "author":
		return actorNode{n.s, c.Author}, nil
	case "committer":
		return actorNode{n.s, c.Committer}, nil
	case "file":
		return n.file(ctx, c, args.String("path"))
	case "parents":
		return n.parents(c, args)
	case "signature":
		if c.signature == "" {
			return nil, nil
		}
	case "tree":
		return treeNode{gitObject{n.s, n.v, c.Tree}}, nil
	default:
		if value, ok := n.plain(c, name); ok {
			return value, nil
		}
	}
	return n.common("Commit", nodeCommit, name)
}

// plain answers the fields that are texts, times and flags.
func (n commitNode) plain(c commitFull, name string) (any, bool) {
	headline, body := c.headline()
	web := "/" + n.v.fullName + "/commit/" + string(n.oid)
	tree := "/" + n.v.fullName + "/tree/" + string(n.oid)
	switch name {
	case "authoredByCommitter":
		return c.Author.Email == c.Committer.Email, true
	case "authoredDate":
		return stamp(c.Author.When), true
	case "committedDate":
		return stamp(c.Committer.When), true
	case "committedViaWeb":
		return false, true
	case "message":
		return c.message, true
	case "messageBody":
		return body, true
	case "messageHeadline":
		return headline, true
	case "resourcePath":
		return n.s.h.base.Path + web, true
	case "treeResourcePath":
		return n.s.h.base.Path + tree, true
	case "treeUrl":
		return n.s.h.base.String() + tree, true
	case "url":
		return n.s.h.base.String() + web, true
	}
	return nil, false
}

// file finds one path of the commit's tree; null if there is none.
func (n commitNode) file(ctx context.Context, c commitFull, path string) (any, error) {
	entry, err := n.s.entry(ctx, n.v, c.Tree, strings.Trim(path, "/"))
	if errors.Is(err, errNoObject) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return entryNode{n.s, n.v, entry, entry.Path}, nil
}

// parents is a connection of which one page is ever needed: no commit has
// more than a handful.
func (n commitNode) parents(c commitFull, args graphql.Args) (any, error) {
	if err := checkPaging("parents", args); err != nil {
		return nil, err
	}
	if args.String("after") != "" || args.String("before") != "" {
		return nil, graphql.Unimplemented("Commit", "parents(after:, before:)")
	}
	oids := c.Parents
	from, to := 0, len(oids)
	if first, ok := args.Int("first"); ok {
		to = min(to, first)
	}
	if last, ok := args.Int("last"); ok {
		from = max(from, to-last)
	}
	nodes := make([]any, 0, to-from)
	for _, oid := range oids[from:to] {
		nodes = append(nodes, commitNode{gitObject{n.s, n.v, oid}})
	}
	n.s.nodes += len(nodes)
	return connectionNode{"Commit", nodes, len(oids), from > 0, to < len(oids)}, nil
}

// checkPaging applies GitHub's rules for connections.
func checkPaging(name string, args graphql.Args) error {
	first, hasFirst := args.Int("first")
	last, hasLast := args.Int("last")
	if !hasFirst && !hasLast {
		return graphql.Errorf("MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)
	}
	for _, given := range []struct {
		name  string
		value int
	}{{"first", first}, {"last", last}} {
		if given.value > maxPageSize {
			return graphql.Errorf("EXCESSIVE_PAGINATION", "Requesting %d records on the `%s` connection exceeds the `%s` limit of %d records.", given.value, name, given.name, maxPageSize)
		}
		if given.value < 0 {
			return graphql.Errorf("INVALID_CURSOR_ARGUMENTS", "`%s` on the `%s` connection cannot be less than zero.", given.name, name)
		}
	}
	return nil
}

// connectionNode is one page of a connection of objects of a kind.
type connectionNode struct {
	kind           string
	nodes          []any
	total          int
	before, behind bool
}

// TypeName implements graphql.Object.
func (n connectionNode) TypeName() string { return n.kind + "Connection" }

// Field implements graphql.Object.
func (n connectionNode) Field(_ context.Context, name string, _ graphql.Args) (any, error) {
	switch name {
	case "nodes":
		return n.nodes, nil
	case "totalCount":
		return n.total, nil
	}
	return nil, graphql.Unimplemented(n.TypeName(), name)
}

// actorNode is the value of the type GitActor.
type actorNode struct {
	s   *session
	who git.Signature
}

// TypeName implements graphql.Object.
func (actorNode) TypeName() string { return "GitActor" }

// Field implements graphql.Object.
func (n actorNode) Field(_ context.Context, name string, _ graphql.Args) (any, error) {
	p, known := n.s.h.byEmail(n.who.Email)
	switch name {
	case "avatarUrl":
		return n.s.h.api("/avatars/%d", p.ID), nil
	case "date":
		return n.who.When.Format(time.RFC3339), nil
	case "email":
		return n.who.Email, nil
	case "name":
		return n.who.Name, nil
	case "user":
		if !known {
			return nil, nil
		}
		return userNode{n.s, p}, nil
	}
	return nil, graphql.Unimplemented("GitActor", name)
}
