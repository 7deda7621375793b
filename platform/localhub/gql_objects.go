package localhub

import (
	"context"
	"errors"

	"vault/platform/git"
	"vault/platform/localhub/graphql"
)

// objectCache keeps what one request has read of git: a query that asks for
// fifty files of one commit reads each folder once.
type objectCache struct {
	refs      map[refKey]git.OID
	revisions map[refKey]git.OID
	folders   map[objectKey][]git.TreeEntry
	commits   map[objectKey]commitFull
	blobs     map[objectKey]*blobContent
}

type refKey struct {
	repo int64
	name string
}

type objectKey struct {
	repo int64
	oid  git.OID
}

// remember reads a value once.
func remember[K comparable, V any](cache *map[K]V, key K, read func() (V, error)) (V, error) {
	if found, ok := (*cache)[key]; ok {
		return found, nil
	}
	value, err := read()
	if err != nil {
		return value, err
	}
	if *cache == nil {
		*cache = map[K]V{}
	}
	(*cache)[key] = value
	return value, nil
}

// refOID is where a ref stands, "" if there is none.
func (s *session) refOID(ctx context.Context, v repoView, name string) (git.OID, error) {
	return remember(&s.cache.refs, refKey{v.ID, name}, func() (git.OID, error) {
		oid, err := v.git.Ref(ctx, name)
		if err != nil && isAbsent(err) {
			return "", nil
		}
		return oid, err
	})
}

// ref gives a ref's value, nil if there is none.
func (s *session) ref(ctx context.Context, v repoView, name string) (any, error) {
	oid, err := s.refOID(ctx, v, name)
	if err != nil || oid == "" {
		return nil, err
	}
	return refNode{s, v, name, oid}, nil
}

func (s *session) commit(ctx context.Context, v repoView, oid git.OID) (commitFull, error) {
	return remember(&s.cache.commits, objectKey{v.ID, oid}, func() (commitFull, error) { return v.readCommit(ctx, oid) })
}

func (s *session) folder(ctx context.Context, v repoView, oid git.OID) ([]git.TreeEntry, error) {
	return remember(&s.cache.folders, objectKey{v.ID, oid}, func() ([]git.TreeEntry, error) {
		entries, err := v.git.Entries(ctx, oid)
		return entries, noObject(err)
	})
}

// entry finds a path below a tree, folders read once per request.
func (s *session) entry(ctx context.Context, v repoView, tree git.OID, path string) (git.TreeEntry, error) {
	return findEntry(tree, path, func(oid git.OID) ([]git.TreeEntry, error) { return s.folder(ctx, v, oid) })
}

// object gives the value of a git object of whatever kind it is.
func (s *session) object(ctx context.Context, v repoView, oid git.OID) (any, error) {
	o, err := v.git.Object(ctx, oid, 0)
	if err != nil {
		return nil, noObject(err)
	}
	base := gitObject{s, v, oid}
	switch o.Kind {
	case "commit":
		return commitNode{base}, nil
	case "tree":
		return treeNode{base}, nil
	case "blob":
		return blobNode{base}, nil
	case "tag":
		return tagNode{base}, nil
	}
	return nil, errNoObject
}

// objectOfKind is object for a node id, whose prefix must fit.
func (s *session) objectOfKind(ctx context.Context, v repoView, n parsedNode) (any, error) {
	oid := git.OID(n.name)
	if !oid.Valid() {
		return nil, errNoObject
	}
	found, err := s.object(ctx, v, oid)
	if err != nil {
		return nil, err
	}
	kinds := map[string]string{nodeCommit: "Commit", nodeTree: "Tree", nodeBlob: "Blob", nodeTag: "Tag"}
	if obj, ok := found.(graphql.Object); !ok || kinds[n.prefix] != obj.TypeName() {
		return nil, errNoObject
	}
	return found, nil
}

// gitObject is what the values of all kinds of git objects share.
type gitObject struct {
	s   *session
	v   repoView
	oid git.OID
}

// common answers the fields of the interface GitObject.
func (o gitObject) common(typeName, prefix, name string) (any, error) {
	h := o.s.h
	switch name {
	case "abbreviatedOid":
		return string(o.oid[:7]), nil
	case "commitResourcePath":
		return h.base.Path + "/" + o.v.fullName + "/commit/" + string(o.oid), nil
	case "commitUrl":
		return h.api("/%s/commit/%s", o.v.fullName, o.oid), nil
	case "id":
		return nodeID(prefix, o.v.ID, string(o.oid)), nil
	case "oid":
		return string(o.oid), nil
	case "repository":
		return repositoryNode{o.s, o.v}, nil
	}
	return nil, graphql.Unimplemented(typeName, name)
}

// treeNode is the value of the type Tree.
type treeNode struct{ gitObject }

// TypeName implements graphql.Object.
func (treeNode) TypeName() string { return "Tree" }

// Field implements graphql.Object.
func (n treeNode) Field(ctx context.Context, name string, _ graphql.Args) (any, error) {
	if name != "entries" {
		return n.common("Tree", nodeTree, name)
	}
	entries, err := n.s.folder(ctx, n.v, n.oid)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(entries))
	for i, e := range entries {
		out[i] = entryNode{n.s, n.v, e, e.Path}
	}
	n.s.nodes += len(entries)
	return out, nil
}

// tagNode is the value of the type Tag.
type tagNode struct{ gitObject }

// TypeName implements graphql.Object.
func (tagNode) TypeName() string { return "Tag" }

// Field implements graphql.Object.
func (n tagNode) Field(ctx context.Context, name string, _ graphql.Args) (any, error) {
	if name != "name" && name != "target" {
		if name == "message" || name == "tagger" {
			return nil, graphql.Unimplemented("Tag", name)
		}
		return n.common("Tag", nodeTag, name)
	}
	o, err := n.v.git.Object(ctx, n.oid, maxCommitObject)
	if err != nil {
		return nil, err
	}
	if name == "name" {
		return headerOf(o.Data, "tag"), nil
	}
	target, err := n.s.object(ctx, n.v, git.OID(headerOf(o.Data, "object")))
	if errors.Is(err, errNoObject) {
		return nil, nil
	}
	return target, err
}
