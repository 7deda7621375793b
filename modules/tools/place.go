package tools

import (
	"context"
	"strings"

	"vault/modules/index"
	"vault/modules/tool"
	"vault/modules/vaultdir"
	"vault/platform/fault"
)

// place is where a call works: one repository and a clean path in it, or
// every readable one.
type place struct {
	// repo is nil when the call covers every repository.
	repo *index.Repo
	// path is in NFC; "" is the root.
	path string
	// sent is the path as the caller spelled it, apart from a repository's
	// name in front: two stored names may differ in Unicode form alone.
	sent string
	// named says that the call named the repository itself: then paths in the
	// answer are relative to it.
	named bool
}

// locate finds the place that repo and path mean. repo may be "" where the
// tool allows that; then a path starts with a repository's name.
func locate(ctx context.Context, call *tool.Call, repo, path string, kind vaultdir.PathKind) (place, error) {
	if repo == "" {
		return locateAcross(ctx, call, path, kind)
	}
	r, ok := call.Index.Repo(repo)
	if !ok {
		return place{}, unreadable(call, repo)
	}
	path, err := unrepeat(ctx, call, r, path)
	if err != nil {
		return place{}, err
	}
	clean, err := r.Dir.Check(path, kind)
	if err != nil {
		return place{}, err
	}
	if err := ready(r); err != nil {
		return place{}, err
	}
	return place{repo: &r, path: clean, sent: path, named: true}, nil
}

// locateAcross reads a path that starts with a repository's name.
func locateAcross(ctx context.Context, call *tool.Call, path string, kind vaultdir.PathKind) (place, error) {
	if path == "" || path == "/" {
		return place{}, nil
	}
	name, rest, _ := strings.Cut(path, "/")
	r, ok := call.Index.Repo(name)
	if !ok {
		return place{}, fault.Invalid("without \"repo\", a path starts with the name of a repository, and %s is none that you can read", fault.Quote(name)).
			Fix("the repositories that you can read are %s", fault.QuoteList(repoNames(call))).
			Fix("send one of them as \"repo\", or put its name in front of the path").On("path")
	}
	if rest == "" {
		// The repository itself: its root is a folder in every kind of path
		// that may leave repo out.
		kind = vaultdir.KindFolder
	}
	p, err := locate(ctx, call, r.Name, rest, kind)
	p.named = false
	return p, err
}

// unrepeat takes a repository's name off the front of a path, where somebody
// wrote it in both arguments. A folder of that name comes first. A path that
// starts with another repository's name is answered with the pair to send.
func unrepeat(ctx context.Context, call *tool.Call, r index.Repo, path string) (string, error) {
	first, rest, more := strings.Cut(path, "/")
	other, known := call.Index.Repo(first)
	if !known || !more && first != r.Name {
		return path, nil
	}
	there, err := call.Index.HasFolder(ctx, r.Name, first)
	if err != nil || there {
		return path, err
	}
	if other.Name == r.Name {
		return rest, nil
	}
	return "", fault.Invalid("the path %s starts with the name of another repository", fault.Quote(path)).
		Fix("send \"repo\": %s and the path %s", fault.Quote(other.Name), fault.Quote(rest)).On("path")
}

// unreadable says the same of a repository that does not exist and of one
// that the caller may not read.
func unreadable(call *tool.Call, name string) error {
	return fault.NotFound("there is no repository %s that you can read", fault.Quote(name)).
		Fix("the repositories that you can read are %s", fault.QuoteList(repoNames(call))).On("repo")
}

func repoNames(call *tool.Call) []string {
	var names []string
	for _, r := range call.Index.Repos() {
		names = append(names, r.Name)
	}
	return names
}

// show gives a path as the answer names it.
func (p place) show(repo, path string) string {
	if p.named {
		return path
	}
	return repo + "/" + path
}

// top is the answer's own `repo`: set when the call named one.
func (p place) top() string {
	if p.named {
		return p.repo.Name
	}
	return ""
}

// item is the `repo` of an item: set when the call named none.
func (p place) item(repo string) string {
	if p.named {
		return ""
	}
	return repo
}

// repos are the names to query: the one of the place, or every complete one.
func (p place) repos() []string {
	if p.repo == nil {
		return nil
	}
	return []string{p.repo.Name}
}
