package localhub

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"vault/platform/localhub/graphql"
)

// maxNodeIDs is GitHub's limit for one nodes field.
const maxNodeIDs = 100

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// queryRoot is the value of the type Query.
type queryRoot struct{ s *session }

// TypeName implements graphql.Object.
func (queryRoot) TypeName() string { return "Query" }

// Field implements graphql.Object.
func (q queryRoot) Field(ctx context.Context, name string, args graphql.Args) (any, error) {
	s := q.s
	switch name {
	case "viewer":
		return s.viewer(), nil
	case "node":
		return s.node(ctx, args.String("id"))
	case "nodes":
		return s.nodeList(ctx, args.Strings("ids"))
	case "rateLimit":
		return rateLimitNode{s}, nil
	case "repository":
		return s.repository(args)
	case "organization":
		return s.organization(args.String("login"), "Organization")
	case "repositoryOwner":
		return s.repositoryOwner(args.String("login"))
	case "user":
		return s.user(args.String("login"))
	}
	return nil, graphql.Unimplemented("Query", name)
}

func notFoundNode(format string, args ...any) error {
	return graphql.Errorf("NOT_FOUND", format, args...)
}

func (s *session) viewer() graphql.Object {
	if s.cred.holder == holderPerson {
		return userNode{s, s.cred.person}
	}
	return userNode{s, s.h.bot()}
}

func (s *session) nodeList(ctx context.Context, ids []string) (any, error) {
	if len(ids) > maxNodeIDs {
		return nil, graphql.Errorf("ARGUMENT_LIMIT", "You may not provide more than %d node ids; you provided %d.", maxNodeIDs, len(ids))
	}
	out := make([]any, len(ids))
	for i, id := range ids {
		s.nodes++
		object, err := s.node(ctx, id)
		if out[i] = object; err != nil {
			out[i] = err
		}
	}
	return out, nil
}

// node finds anything by its id. What the caller may not see is not there.
func (s *session) node(ctx context.Context, id string) (any, error) {
	found, err := s.lookup(ctx, id)
	if errors.Is(err, errNoRepository) || errors.Is(err, errNoObject) {
		return nil, notFoundNode("Could not resolve to a node with the global id of '%s'.", id)
	}
	return found, err
}

func (s *session) lookup(ctx context.Context, id string) (any, error) {
	n, ok := parseNodeID(id)
	if !ok {
		return nil, errNoObject
	}
	switch n.prefix {
	case nodeUser, nodeBot:
		return s.userByID(n.id)
	case nodeOrganization:
		if n.id != s.h.state.AccountID {
			return nil, errNoObject
		}
		return organizationNode{s}, nil
	}
	v, err := s.h.findID(s.cred, n.id)
	if err != nil {
		return nil, err
	}
	r := repositoryNode{s, v}
	if n.prefix == nodeRepository {
		return r, nil
	}
	if !s.cred.readsContents() {
		return nil, errNoObject
	}
	if n.prefix == nodeRef {
		ref, err := s.ref(ctx, v, n.name)
		if err == nil && ref == nil {
			err = errNoObject
		}
		return ref, err
	}
	return s.objectOfKind(ctx, v, n)
}

func (s *session) userByID(id int64) (any, error) {
	if bot := s.h.bot(); bot.ID == id {
		return userNode{s, bot}, nil
	}
	s.h.mu.RLock()
	defer s.h.mu.RUnlock()
	for _, p := range s.h.state.People {
		if p.ID == id {
			return userNode{s, *p}, nil
		}
	}
	return nil, errNoObject
}

func (s *session) user(login string) (any, error) {
	s.h.mu.RLock()
	defer s.h.mu.RUnlock()
	p, ok := s.h.person(login)
	if !ok {
		return nil, notFoundNode("Could not resolve to a User with the login of '%s'.", login)
	}
	return userNode{s, *p}, nil
}

func (s *session) organization(login, kind string) (any, error) {
	if !strings.EqualFold(login, s.h.config.Account) {
		return nil, notFoundNode("Could not resolve to %s with the login of '%s'.", article(kind), login)
	}
	return organizationNode{s}, nil
}

func article(kind string) string {
	if strings.HasPrefix(kind, "O") {
		return "an " + kind
	}
	return "a " + kind
}

func (s *session) repositoryOwner(login string) (any, error) {
	if u, err := s.user(login); err == nil {
		return u, nil
	}
	return s.organization(login, "RepositoryOwner")
}

// repository finds a repository by owner and name.
func (s *session) repository(args graphql.Args) (any, error) {
	owner, name := args.String("owner"), args.String("name")
	v, err := s.h.find(s.cred, owner, name)
	var moved errMoved
	switch {
	case errors.As(err, &moved) && args.Bool("followRenames"):
		return repositoryNode{s, moved.to}, nil
	case err != nil:
		return nil, notFoundNode("Could not resolve to a Repository with the name '%s/%s'.", owner, name)
	}
	return repositoryNode{s, v}, nil
}

// rateLimitNode is the value of the type RateLimit.
type rateLimitNode struct{ s *session }

// TypeName implements graphql.Object.
func (rateLimitNode) TypeName() string { return "RateLimit" }

// Field implements graphql.Object. Queries cost one point: no connection that
// costs more is built.
func (n rateLimitNode) Field(_ context.Context, name string, _ graphql.Args) (any, error) {
	switch name {
	case "cost":
		return 1, nil
	case "limit":
		return n.s.used.limit, nil
	case "nodeCount":
		return n.s.nodes, nil
	case "remaining":
		return n.s.used.remaining, nil
	case "resetAt":
		return stamp(n.s.used.reset), nil
	case "used":
		return n.s.used.used, nil
	}
	return nil, graphql.Unimplemented("RateLimit", name)
}
