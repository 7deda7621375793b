package localhub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vault/platform/git"
)

// folder is a repository of the user that is served from where it stands. Only
// its refs, its objects and its list of cut-off commits are read.
type folder struct {
	path  string // absolute, symbolic links resolved
	place git.Folder
	git   *git.Repo

	// seen and problem belong to the watcher and to syncFolder, under the
	// repository's moving lock.
	seen    fingerprint
	problem string
}

func openFolder(ctx context.Context, runner *git.Runner, path string) (*folder, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the folder %q: %w", path, err)
	}
	place, err := runner.Discover(ctx, abs)
	if errors.Is(err, git.ErrNotRepository) {
		return nil, noRepository(path, abs)
	}
	if err != nil {
		return nil, err
	}
	if err := checkFolder(abs, place); err != nil {
		return nil, err
	}
	// Who owns the folder does not matter: nothing in it is run, and what is
	// read from it is checked.
	safe := []string{place.GitDir, place.CommonDir, abs}
	if place.WorkTree != "" {
		safe = append(safe, place.WorkTree)
	}
	return &folder{path: abs, place: place, git: runner.Open(place.GitDir, safe...)}, nil
}

// noRepository says what to do about a folder without a repository of its own.
func noRepository(path, abs string) error {
	for dir := filepath.Dir(abs); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return fmt.Errorf("the folder %q is %w of its own, but lies inside that of %q; serve that one", path, git.ErrNotRepository, dir)
		}
	}
	return fmt.Errorf("the folder %q is %w; make it one with: git -C %q init && git -C %q add --all && git -C %q commit -m 'First version'",
		path, git.ErrNotRepository, path, path, path)
}

// target is the branch and commit that a folder asks to be served: those of
// its HEAD, or while that is detached (in a rebase, say) or names a branch
// without commits, those of the branch that was served last. The id is "" if
// there is nothing to serve.
func (f *folder) target(ctx context.Context, last string) (branch string, oid git.OID, err error) {
	branch, oid, err = f.git.Head(ctx)
	if err != nil || branch != "" && !oid.IsZero() {
		return branch, oid, err
	}
	oid, err = f.git.Ref(ctx, "refs/heads/"+last)
	switch {
	case err == nil:
		return last, oid, nil
	case !errors.Is(err, git.ErrNotFound):
		return "", "", err
	case branch == "":
		branch = last
	}
	return branch, "", nil
}

// syncFolder brings the bare repository to what the folder's HEAD names, and
// tells of it. Its refs are that one branch.
func (h *Hub) syncFolder(ctx context.Context, r *repository) error {
	r.moving.Lock()
	defer r.moving.Unlock()
	h.mu.RLock()
	last, entered := r.state.Branch, slices.Contains(h.repos, r)
	h.mu.RUnlock()
	branch, oid, err := r.folder.target(ctx, last)
	if err != nil {
		return err
	}
	if oid == "" {
		return h.syncEmpty(ctx, r, last, branch)
	}
	if err := checkObjects(r.folder.place); err != nil {
		return err
	}
	if err := copyShallow(r.folder.place, r.git.Dir()); err != nil {
		return fmt.Errorf("copy the list of cut-off commits: %w", err)
	}
	if err := moveTo(ctx, r, branch, oid); err != nil {
		return err
	}
	if branch != last {
		if err := h.setBranch(r, branch); err != nil {
			return err
		}
	}
	if len(r.known) == 0 && !entered {
		// What a repository holds when it is first served was not pushed.
		r.known, err = r.git.Refs(ctx, "refs/")
		return err
	}
	return h.tellPushes(ctx, r, h.firstPerson())
}

// syncEmpty follows the name of a branch that has no commits yet. A folder
// whose branches went away keeps what it served.
func (h *Hub) syncEmpty(ctx context.Context, r *repository, last, branch string) error {
	if branch == last || len(r.known) > 0 {
		return nil
	}
	if err := r.git.SetHead(ctx, branch); err != nil {
		return err
	}
	return h.setBranch(r, branch)
}

// moveTo makes branch at oid the one ref and HEAD. A branch whose name needs
// the old one gone (a, a/b) takes its place in two steps; otherwise the new
// one is there before the old one goes.
func moveTo(ctx context.Context, r *repository, branch string, oid git.OID) error {
	refs, err := r.git.Refs(ctx, "refs/")
	if err != nil {
		return err
	}
	name := "refs/heads/" + branch
	var before, after []git.RefUpdate
	for other, at := range refs {
		drop := git.RefUpdate{Name: other, From: at, To: git.Zero}
		switch {
		case other == name:
		case strings.HasPrefix(other, name+"/"), strings.HasPrefix(name, other+"/"):
			before = append(before, drop)
		default:
			after = append(after, drop)
		}
	}
	if len(before) > 0 {
		if err := r.git.UpdateRefs(ctx, before...); err != nil {
			return err
		}
	}
	at, there := refs[name]
	if !there {
		at = git.Zero
	}
	if at != oid {
		if err := r.git.UpdateRef(ctx, name, oid, at); err != nil {
			return err
		}
	}
	if err := r.git.SetHead(ctx, branch); err != nil {
		return err
	}
	if len(after) == 0 {
		return nil
	}
	return r.git.UpdateRefs(ctx, after...)
}

// setBranch records the default branch.
func (h *Hub) setBranch(r *repository, branch string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := r.state.Branch
	r.state.Branch, r.state.Updated = branch, h.now().UTC()
	if err := h.state.save(); err != nil {
		return err
	}
	return h.tellRepository(r, "edited", map[string]any{"default_branch": map[string]any{"from": old}})
}

// maxShallow bounds the list of cut-off commits: 41 bytes each.
const maxShallow = 8 << 20

// copyShallow gives the bare repository the folder's list of commits whose
// parents are not there. Only ids are copied, whatever else the file holds.
func copyShallow(place git.Folder, gitDir string) error {
	target := filepath.Join(gitDir, "shallow")
	if !place.Shallow {
		if _, err := os.Lstat(filepath.Join(place.CommonDir, "shallow")); err != nil {
			return ignoreMissing(os.Remove(target))
		}
	}
	data, err := readRegular(filepath.Join(place.CommonDir, "shallow"), maxShallow)
	if errors.Is(err, os.ErrNotExist) {
		return ignoreMissing(os.Remove(target))
	}
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for line := range bytes.Lines(data) {
		if oid := git.OID(bytes.TrimSpace(line)); oid.Valid() {
			out.WriteString(string(oid) + "\n")
		}
	}
	if out.Len() == 0 {
		return ignoreMissing(os.Remove(target))
	}
	if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, out.Bytes()) {
		return nil
	}
	return writeAtomically(target, out.Bytes())
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
