package tools

import (
	"context"
	"path"
	"slices"
	"strings"

	"vault/modules/notes"
)

// The bounds of the look at a note's links: how many broken ones are named,
// how many links are looked at, and how many folders are looked up.
const (
	maxBroken      = 5
	maxLinksRead   = 2_000
	maxFolderReads = 50
)

// keyed is the files that some links may mean, by key.
type keyed map[string][]string

// ByKey gives the paths of a key.
func (k keyed) ByKey(key string) []string { return k[key] }

// Has reports whether there is a file at path.
func (k keyed) Has(path string) bool { return slices.Contains(k[notes.Key(path)], path) }

// broken lists the links in the lines given that lead to nothing the caller
// could open.
func (r *reading) broken(ctx context.Context) ([]string, error) {
	if !r.text.IsNote {
		return nil, nil
	}
	links, keys := r.links()
	if len(links) == 0 {
		return nil, nil
	}
	paths, err := r.call.Index.PathsByKey(ctx, r.place.repo.Name, keys)
	if err != nil {
		return nil, err
	}
	var list []string
	lookups := 0
	for _, l := range links {
		if _, ok := notes.Resolve(r.text.Path, l, keyed(paths)); ok {
			continue
		}
		if lookups++; lookups > maxFolderReads {
			break
		}
		there, err := r.toFolder(ctx, l)
		if err != nil {
			return nil, err
		}
		if there {
			continue
		}
		if list = appendNew(list, l.Dest); len(list) == maxBroken {
			break
		}
	}
	return list, nil
}

// links gives the links in the lines given that name a file, and their keys.
func (r *reading) links() (links []notes.Link, keys []string) {
	for _, l := range notes.Parse(r.text.Body).Links() {
		if l.Line < r.from || l.Line > r.to || l.External() || l.Self() || l.Key() == "" {
			continue
		}
		links = append(links, l)
		keys = append(keys, l.Key())
		if len(links) == maxLinksRead {
			break
		}
	}
	return links, keys
}

// toFolder reports whether a link leads to a folder, relative to its note or
// from the root.
func (r *reading) toFolder(ctx context.Context, l notes.Link) (bool, error) {
	target := strings.Trim(l.Target, "/")
	for _, folder := range []string{path.Join(path.Dir(r.text.Path), target), path.Clean(target)} {
		if folder == "." || strings.HasPrefix(folder, "..") {
			continue
		}
		there, err := r.call.Index.HasFolder(ctx, r.place.repo.Name, folder)
		if err != nil || there {
			return there, err
		}
	}
	return false, nil
}
