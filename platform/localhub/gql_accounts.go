package localhub

import (
	"context"

	"vault/platform/localhub/graphql"
)

// userNode is the value of the type User.
type userNode struct {
	s *session
	p personState
}

// TypeName implements graphql.Object.
func (userNode) TypeName() string { return "User" }

// Field implements graphql.Object.
func (n userNode) Field(_ context.Context, name string, args graphql.Args) (any, error) {
	h := n.s.h
	switch name {
	case "avatarUrl":
		return h.api("/avatars/%d", n.p.ID), nil
	case "createdAt", "updatedAt":
		return stamp(h.state.App.CreatedAt), nil
	case "databaseId":
		return n.p.ID, nil
	case "email":
		return n.p.Email, nil
	case "id":
		return nodeID(nodeUser, n.p.ID), nil
	case "isSiteAdmin":
		return false, nil
	case "isViewer":
		return n.s.cred.holder == holderPerson && n.s.cred.person.ID == n.p.ID, nil
	case "login":
		return n.p.Login, nil
	case "name":
		return n.p.Name, nil
	case "repository":
		return nil, notFoundNode("Could not resolve to a Repository with the name '%s/%s'.", n.p.Login, args.String("name"))
	case "resourcePath":
		return h.base.Path + "/" + n.p.Login, nil
	case "url":
		return h.api("/%s", n.p.Login), nil
	}
	return nil, graphql.Unimplemented("User", name)
}

// organizationNode is the account that owns the repositories.
type organizationNode struct{ s *session }

// TypeName implements graphql.Object.
func (organizationNode) TypeName() string { return "Organization" }

// Field implements graphql.Object.
func (n organizationNode) Field(_ context.Context, name string, args graphql.Args) (any, error) {
	h := n.s.h
	switch name {
	case "avatarUrl":
		return h.api("/avatars/%d", h.state.AccountID), nil
	case "createdAt", "updatedAt":
		return stamp(h.state.App.CreatedAt), nil
	case "databaseId":
		return h.state.AccountID, nil
	case "description", "email":
		return nil, nil
	case "id":
		return nodeID(nodeOrganization, h.state.AccountID), nil
	case "login", "name":
		return h.config.Account, nil
	case "repository":
		args["owner"] = h.config.Account
		return n.s.repository(args)
	case "resourcePath":
		return h.base.Path + "/" + h.config.Account, nil
	case "url":
		return h.api("/%s", h.config.Account), nil
	}
	return nil, graphql.Unimplemented("Organization", name)
}
