package localhub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/platform/git"
)

// maxCommitObject bounds what is read of one commit or tag.
const maxCommitObject = 1 << 20

// errNoObject says that a name stands for nothing in the repository.
var errNoObject = errors.New("no such object")

// resolve finds what a revision names, as GitHub reads it: an object id, HEAD,
// a full ref name, a branch or a tag.
func (v repoView) resolve(ctx context.Context, name string) (git.OID, error) {
	if oid := git.OID(strings.ToLower(name)); oid.Valid() && !oid.IsZero() && len(oid) == len(git.Zero) {
		_, err := v.git.Object(ctx, oid, 0)
		return oid, noObject(err)
	}
	candidates := []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + name}
	switch {
	case name == "" || len(name) > 1000:
		return "", errNoObject
	case name == "HEAD":
		candidates = []string{"refs/heads/" + v.Branch}
	case strings.HasPrefix(name, "refs/"):
		candidates = []string{name}
	}
	for _, ref := range candidates {
		oid, err := v.git.Ref(ctx, ref)
		if err == nil || !isAbsent(err) {
			return oid, err
		}
	}
	return "", errNoObject
}

// isAbsent takes a malformed name for a missing thing.
func isAbsent(err error) bool {
	return errors.Is(err, git.ErrNotFound) || errors.Is(err, git.ErrRefused)
}

func noObject(err error) error {
	if err != nil && isAbsent(err) {
		return errNoObject
	}
	return err
}

// commit resolves a revision to a commit, through tags.
func (v repoView) commit(ctx context.Context, name string) (git.OID, error) {
	oid, err := v.resolve(ctx, name)
	if err != nil {
		return "", err
	}
	return v.peel(ctx, oid, "commit")
}

// peel follows tags to a commit, and a commit to its tree if that is wanted.
func (v repoView) peel(ctx context.Context, oid git.OID, want string) (git.OID, error) {
	for range 10 {
		o, err := v.git.Object(ctx, oid, maxCommitObject)
		switch {
		case err != nil:
			return "", noObject(err)
		case o.Kind == want:
			return oid, nil
		case o.Kind == "tag":
			oid = git.OID(headerOf(o.Data, "object"))
		case o.Kind == "commit" && want == "tree":
			oid = git.OID(headerOf(o.Data, "tree"))
		default:
			return "", errNoObject
		}
	}
	return "", errNoObject
}

// headerOf reads one header of a commit or tag object.
func headerOf(data []byte, name string) string {
	headers, _, _ := strings.Cut(string(data), "\n\n")
	for line := range strings.SplitSeq(headers, "\n") {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return value
		}
	}
	return ""
}

// findEntry finds a path below a tree, whose last part may be a folder, a file
// or a submodule. A path that leads nowhere gives errNoObject.
func findEntry(tree git.OID, path string, read func(git.OID) ([]git.TreeEntry, error)) (git.TreeEntry, error) {
	at := git.TreeEntry{Mode: git.ModeFolder, Type: "tree", OID: tree}
	for part := range strings.SplitSeq(path, "/") {
		if at.Type != "tree" || part == "" {
			return at, errNoObject
		}
		entries, err := read(at.OID)
		if err != nil {
			return at, err
		}
		i := slices.IndexFunc(entries, func(e git.TreeEntry) bool { return e.Path == part })
		if i < 0 {
			return at, errNoObject
		}
		at = entries[i]
	}
	at.Path = path
	return at, nil
}

// notEmpty refuses what is asked about commits of a repository that has none.
func (v repoView) notEmpty(ctx context.Context) error {
	refs, err := v.git.Refs(ctx, "refs/")
	if err != nil {
		return fmt.Errorf("look whether %s is empty: %w", v.fullName, err)
	}
	if len(refs) == 0 {
		return errEmpty()
	}
	return nil
}
