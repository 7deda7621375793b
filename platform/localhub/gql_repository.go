package localhub

import (
	"context"
	"errors"
	"strings"

	"vault/platform/git"
	"vault/platform/localhub/graphql"
)

// repositoryNode is the value of the type Repository.
type repositoryNode struct {
	s *session
	v repoView
}

// TypeName implements graphql.Object.
func (repositoryNode) TypeName() string { return "Repository" }

// Field implements graphql.Object.
func (n repositoryNode) Field(ctx context.Context, name string, args graphql.Args) (any, error) {
	switch name {
	case "defaultBranchRef", "object", "ref", "isEmpty":
		return n.content(ctx, name, args)
	case "isArchived", "isDisabled", "isFork", "isInOrganization", "isLocked", "isMirror", "isPrivate", "isTemplate",
		"viewerCanAdminister":
		return n.flag(name), nil
	}
	return n.plain(name)
}

func (n repositoryNode) flag(name string) bool {
	switch name {
	case "isArchived":
		return n.v.Archived
	case "viewerCanAdminister":
		return n.v.permission == permissionAdmin
	}
	return name == "isPrivate" || name == "isInOrganization"
}

func (n repositoryNode) plain(name string) (any, error) {
	v, h := n.v, n.s.h
	switch name {
	case "archivedAt":
		if !v.Archived {
			return nil, nil
		}
		return stamp(v.Updated), nil
	case "createdAt":
		return stamp(v.Created), nil
	case "databaseId":
		return v.ID, nil
	case "description", "lockReason":
		return nil, nil
	case "id":
		return nodeID(nodeRepository, v.ID), nil
	case "name":
		return v.Name, nil
	case "nameWithOwner":
		return v.fullName, nil
	case "owner":
		return organizationNode{n.s}, nil
	case "pushedAt":
		return stamp(v.Pushed), nil
	case "resourcePath":
		return h.base.Path + "/" + v.fullName, nil
	case "sshUrl":
		return "git@" + h.base.Hostname() + ":" + v.fullName + ".git", nil
	case "updatedAt":
		return stamp(v.Updated), nil
	case "url":
		return h.api("/%s", v.fullName), nil
	case "viewerDefaultCommitEmail", "viewerPossibleCommitEmails":
		return n.emails(name), nil
	case "viewerPermission":
		return v.permission.graphQL(), nil
	case "visibility":
		return "PRIVATE", nil
	}
	return nil, graphql.Unimplemented("Repository", name)
}

func (n repositoryNode) emails(name string) any {
	switch {
	case n.s.cred.holder != holderPerson:
		return nil
	case name == "viewerDefaultCommitEmail":
		return n.s.cred.person.Email
	}
	return []any{n.s.cred.person.Email}
}

// content answers what needs the right to read contents.
func (n repositoryNode) content(ctx context.Context, name string, args graphql.Args) (any, error) {
	if !n.s.cred.readsContents() {
		return nil, &graphql.Error{
			Type: "FORBIDDEN", Message: "Resource not accessible by integration",
			Extensions: map[string]any{"saml_failure": false},
		}
	}
	switch name {
	case "defaultBranchRef":
		return n.s.ref(ctx, n.v, "refs/heads/"+n.v.Branch)
	case "isEmpty":
		return n.empty(ctx)
	case "ref":
		return n.qualified(ctx, args.String("qualifiedName"))
	}
	return n.object(ctx, args)
}

func (n repositoryNode) empty(ctx context.Context) (any, error) {
	at, err := n.s.refOID(ctx, n.v, "refs/heads/"+n.v.Branch)
	if err != nil || at != "" {
		return false, err
	}
	refs, err := n.v.git.Refs(ctx, "refs/")
	return len(refs) == 0, err
}

// qualified finds a ref by a name that may leave out refs/ or refs/heads/.
func (n repositoryNode) qualified(ctx context.Context, name string) (any, error) {
	candidates := []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + name}
	if strings.HasPrefix(name, "refs/") {
		candidates = []string{name}
	}
	for _, candidate := range candidates {
		if ref, err := n.s.ref(ctx, n.v, candidate); err != nil || ref != nil {
			return ref, err
		}
	}
	return nil, nil
}

// object finds a git object by its id or by an expression: a revision, or a
// revision, a colon and a path.
func (n repositoryNode) object(ctx context.Context, args graphql.Args) (any, error) {
	expression, oid := args.String("expression"), args.String("oid")
	var at git.OID
	var err error
	switch {
	case oid != "":
		if at = git.OID(oid); !at.Valid() || len(at) != len(git.Zero) {
			return nil, graphql.Errorf("", "Argument 'oid' on Field 'object' has an invalid value (\"%s\"). Expected type 'GitObjectID'.", oid)
		}
	case expression != "":
		at, err = n.evaluate(ctx, expression)
	default:
		return nil, graphql.Errorf("", "Please provide either an `oid` or an `expression`.")
	}
	if err == nil {
		var found any
		if found, err = n.s.object(ctx, n.v, at); err == nil {
			return found, nil
		}
	}
	if errors.Is(err, errNoObject) {
		return nil, nil
	}
	return nil, err
}

func (n repositoryNode) evaluate(ctx context.Context, expression string) (git.OID, error) {
	revision, path, hasPath := strings.Cut(expression, ":")
	at, err := remember(&n.s.cache.revisions, refKey{n.v.ID, revision}, func() (git.OID, error) {
		return n.v.resolve(ctx, revision)
	})
	if err != nil || !hasPath {
		return at, err
	}
	tree, err := n.v.peel(ctx, at, "tree")
	if err != nil || path == "" {
		return tree, err
	}
	entry, err := n.s.entry(ctx, n.v, tree, strings.TrimSuffix(path, "/"))
	return entry.OID, err
}

// refNode is the value of the type Ref.
type refNode struct {
	s    *session
	v    repoView
	name string
	oid  git.OID
}

// TypeName implements graphql.Object.
func (refNode) TypeName() string { return "Ref" }

// Field implements graphql.Object. There are no protection rules here, so
// those fields are null in earnest.
func (n refNode) Field(ctx context.Context, name string, _ graphql.Args) (any, error) {
	prefix, short := n.split()
	switch name {
	case "branchProtectionRule", "refUpdateRule":
		return nil, nil
	case "id":
		return nodeID(nodeRef, n.v.ID, n.name), nil
	case "name":
		return short, nil
	case "prefix":
		return prefix, nil
	case "repository":
		return repositoryNode{n.s, n.v}, nil
	case "target":
		return n.s.object(ctx, n.v, n.oid)
	}
	return nil, graphql.Unimplemented("Ref", name)
}

func (n refNode) split() (prefix, short string) {
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		if short, ok := strings.CutPrefix(n.name, prefix); ok {
			return prefix, short
		}
	}
	return "refs/", strings.TrimPrefix(n.name, "refs/")
}
