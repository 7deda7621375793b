package notes

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Paths is what a repository holds, as far as resolving a link needs it.
type Paths interface {
	// ByKey gives every file path, note or not, whose Key this is, in any
	// order.
	ByKey(key string) []string
	// Has reports whether a path is exactly that of a file, or of a folder
	// that holds one; a folder has no trailing slash.
	Has(path string) bool
}

// Resolve says which file or folder a link in the file src means, as the path
// under which it is stored; ok is false when it means none. A link to a place
// in its own file means src, an external one nothing.
//
// A wikilink means, in this order: what it says relative to its file when it
// starts with ./ or ../; the path from the root; a file whose path ends with
// it, the one in src's own folder first, then the shortest path, then the
// first by name. Without an ending it means a note. A Markdown link is tried
// relative to its file first, then like a wikilink, then as a folder; an HTML
// link relative to its file only, or from the root when it starts with /. What
// a canvas or a base names is a path from the root. Letter case and Unicode
// form do not count where nothing fits exactly.
func Resolve(src string, link Link, paths Paths) (resolved string, ok bool) {
	if link.Self() {
		return src, true
	}
	if link.Target == "" || link.External() || !utf8.ValidString(link.Target) || strings.IndexByte(link.Target, 0) >= 0 {
		return "", false
	}
	r := resolver{folder: folderOf(src), paths: paths}
	switch link.Form {
	case FormWiki:
		return r.wiki(link.Target)
	case FormHTML:
		return r.html(link.Target)
	case FormCanvas:
		return r.first([]string{fromRoot(link.Target)})
	case FormBase:
		return r.base(link.Target)
	case FormMarkdown, FormDefinition:
	}
	return r.markdown(link.Target)
}

type resolver struct {
	folder string // of the file the link stands in, "" for the root
	paths  Paths
}

// wiki resolves a wikilink. One that means nothing as written is tried once
// more without percent encoding, which a wikilink should not have.
func (r resolver) wiki(target string) (string, bool) {
	if found, ok := r.vaultWide(target, noteFirst(target)); ok {
		return found, true
	}
	if decoded := percentDecode(target); decoded != target {
		return r.vaultWide(decoded, noteFirst(decoded))
	}
	return "", false
}

func (r resolver) markdown(target string) (string, bool) {
	folder := strings.HasSuffix(target, "/") || isDots(lastSegment(target))
	if !folder {
		if found, ok := r.first(r.relative(target, fileFirst(target))); ok {
			return found, true
		}
		if !isRelative(target) {
			if found, ok := r.vaultWide(target, fileFirst(target)); ok {
				return found, true
			}
		}
	}
	return r.folderPath(target)
}

func (r resolver) html(target string) (string, bool) {
	if found, ok := r.first(r.relative(target, []string{""})); ok {
		return found, true
	}
	return r.folderPath(target)
}

// base resolves a path named in a base: from the root, a folder, or any file
// with that name.
func (r resolver) base(target string) (string, bool) {
	if strings.HasSuffix(target, "/") {
		return r.folderPath("/" + target)
	}
	if found, ok := r.vaultWide(target, noteFirst(target)); ok {
		return found, true
	}
	if at := fromRoot(target); at != "" && r.paths.Has(at) {
		return at, true
	}
	return "", false
}

// noteFirst gives the endings that a wikilink's target may lack, in order:
// that of a note comes first, for in `v1.2 notes` the dot is part of the name.
func noteFirst(target string) []string {
	if IsNote(target) {
		return []string{""}
	}
	return []string{".md", ".markdown", ""}
}

// fileFirst is noteFirst for a Markdown link, which as a rule has its ending.
func fileFirst(target string) []string {
	if IsNote(target) {
		return []string{""}
	}
	return []string{"", ".md", ".markdown"}
}

// vaultWide is Obsidian's look-up.
func (r resolver) vaultWide(target string, endings []string) (string, bool) {
	switch {
	case isRelative(target), strings.HasSuffix(target, "/"):
		return r.first(r.relative(target, endings))
	case strings.HasPrefix(target, "/"):
		return r.first(rooted(target, endings))
	}
	for _, ending := range endings {
		wanted := fromRoot(target + ending)
		if found, ok := r.first([]string{wanted}); ok {
			return found, true
		}
		if found, ok := r.bySuffix(wanted); ok {
			return found, true
		}
	}
	return "", false
}

// relative gives the paths that a target means from the link's folder, or from
// the root when it starts with a slash; none when it leaves the root.
func (r resolver) relative(target string, endings []string) []string {
	if strings.HasPrefix(target, "/") {
		return rooted(target, endings)
	}
	return rooted(r.folder+"/"+target, endings)
}

func rooted(target string, endings []string) []string {
	out := make([]string, 0, len(endings))
	for _, ending := range endings {
		if at := fromRoot(target + ending); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// fromRoot cleans a path from the root; it is empty when the path leaves the
// root or is the root.
func fromRoot(target string) string {
	cleaned := path.Clean(strings.TrimLeft(target, "/"))
	if cleaned == "." || cleaned == ".." || strings.HasPrefix(cleaned, "../") {
		return ""
	}
	return cleaned
}

// first gives the stored path of the first of these that is there: exactly,
// else in another Unicode form, else in other letter case.
func (r resolver) first(wanted []string) (string, bool) {
	for _, want := range wanted {
		if want == "" {
			continue
		}
		candidates := r.paths.ByKey(Key(want))
		if slices.Contains(candidates, want) {
			return want, true
		}
		if best, ok := closest(want, candidates, func(p string) bool { return Fold(p) == Fold(want) }); ok {
			return best, true
		}
	}
	return "", false
}

// bySuffix gives the best of the files whose path ends with /want.
func (r resolver) bySuffix(want string) (string, bool) {
	if want == "" {
		return "", false
	}
	folded := Fold("/" + want)
	beside := Fold(fromRoot(r.folder + "/" + want))
	var found []string
	for _, p := range r.paths.ByKey(Key(want)) {
		switch at := Fold(p); {
		case at == beside:
			return closest(fromRoot(r.folder+"/"+want), r.paths.ByKey(Key(want)), func(p string) bool { return Fold(p) == beside })
		case strings.HasSuffix(at, folded):
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return "", false
	}
	return slices.MinFunc(found, func(a, b string) int {
		return cmp.Or(
			cmp.Compare(utf8.RuneCountInString(norm.NFC.String(a)), utf8.RuneCountInString(norm.NFC.String(b))),
			cmp.Compare(spelling(a, want), spelling(b, want)),
			cmp.Compare(a, b),
		)
	}), true
}

// closest gives the candidate that is spelt most like want, among those that
// fit.
func closest(want string, candidates []string, fits func(string) bool) (string, bool) {
	best, rank := "", 0
	for _, p := range candidates {
		if !fits(p) {
			continue
		}
		s := spelling(p, want)
		if best == "" || s < rank || s == rank && p < best {
			best, rank = p, s
		}
	}
	return best, best != ""
}

// spelling ranks how a path that ends with want, but for case and form, is
// spelt: exactly so, in another Unicode form, in other letter case.
func spelling(p, want string) int {
	switch {
	case strings.HasSuffix(p, want):
		return 0
	case strings.HasSuffix(norm.NFC.String(p), norm.NFC.String(want)):
		return 1
	}
	return 2
}

// folderPath resolves a link to a folder, which is spelt exactly.
func (r resolver) folderPath(target string) (string, bool) {
	wanted := r.relative(target, []string{""})
	if !isRelative(target) {
		wanted = append(wanted, fromRoot(target))
	}
	for _, at := range wanted {
		if at != "" && r.paths.Has(at) {
			return at, true
		}
	}
	return "", false
}

func isRelative(target string) bool {
	return strings.HasPrefix(target, "./") || strings.HasPrefix(target, "../") || isDots(target)
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

func folderOf(p string) string {
	folder := path.Dir(p)
	if folder == "." || folder == "/" {
		return ""
	}
	return folder
}
