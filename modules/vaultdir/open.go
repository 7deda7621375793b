package vaultdir

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"vault/platform/fault"
)

// Open reports whether the file at a stored path belongs to the vault: its
// spelling, brought into NFC, is one a caller could send, and it stands below
// an open folder. A hidden path, one that is not UTF-8 or holds control
// characters, and everything in a closed repository is not open.
func (r *Repo) Open(path string) bool {
	if r.closed != "" {
		return false
	}
	if !norm.NFC.IsNormalString(path) {
		path = norm.NFC.String(path)
	}
	return r.below(path) && judge(path) == ""
}

// Check judges a path argument: CleanPath, then the open folders. In a
// repository whose settings name folders every refusal names them; in a closed
// repository everything is refused with the reason.
func (r *Repo) Check(arg string, kind PathKind) (string, error) {
	if r.closed != "" {
		return "", fault.Denied("%s", r.closed)
	}
	clean, problem := r.judgeArgument(arg, kind)
	if problem != nil {
		return "", r.NameFolders(problem)
	}
	return clean, nil
}

func (r *Repo) judgeArgument(arg string, kind PathKind) (string, *fault.Error) {
	clean, problem := normalise(arg, kind)
	if problem == nil && !r.allows(clean, kind) {
		problem = fault.Denied("the path %s is outside the open folders of this repository", fault.Quote(arg))
	}
	return clean, problem
}

// allows reports whether a clean path of a kind lies within the open folders.
func (r *Repo) allows(path string, kind PathKind) bool {
	switch kind {
	case KindFile:
		return r.below(path)
	case KindFolder:
		return r.below(path) || r.isOpenFolder(path) || r.above(path)
	default:
		return r.below(path) || r.isOpenFolder(path)
	}
}

// below reports whether path stands below an open folder.
func (r *Repo) below(path string) bool {
	for _, folder := range r.set.open {
		if folder == "" || (len(path) > len(folder) && path[len(folder)] == '/' && path[:len(folder)] == folder) {
			return true
		}
	}
	return false
}

func (r *Repo) isOpenFolder(path string) bool {
	for _, folder := range r.set.open {
		if folder == path {
			return true
		}
	}
	return false
}

// above reports whether an open folder stands below path.
func (r *Repo) above(path string) bool {
	for _, folder := range r.set.open {
		if path == "" || strings.HasPrefix(folder, path+"/") {
			return true
		}
	}
	return false
}
