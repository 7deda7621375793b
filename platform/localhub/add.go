package localhub

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// RepositorySpec says what to serve.
type RepositorySpec struct {
	// Name is the repository's name on the hub.
	Name string
	// Folder is a folder of the user that holds a git repository; "" makes or
	// reopens a bare repository of the hub's own, with the branch main.
	Folder string
}

// AddRepository serves a repository. One that this hub has served before, by
// its folder or, for the hub's own, by its name, keeps its id and content; one
// whose name now means something else is forgotten. It is seen by the App and
// by people at once.
func (h *Hub) AddRepository(ctx context.Context, spec RepositorySpec) (Repository, error) {
	if err := checkName(spec.Name); err != nil {
		return Repository{}, err
	}
	r, err := h.open(ctx, spec)
	if err != nil {
		return Repository{}, fmt.Errorf("serve %q: %w", spec.Name, err)
	}
	if err := h.enter(r); err != nil {
		return Repository{}, errors.Join(fmt.Errorf("serve %q: %w", spec.Name, err), r.close())
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.public(r), nil
}

func (h *Hub) open(ctx context.Context, spec RepositorySpec) (*repository, error) {
	if spec.Folder == "" {
		st, err := h.identify(spec.Name, "", "main")
		if err != nil {
			return nil, err
		}
		return h.openOwn(ctx, st)
	}
	f, err := openFolder(ctx, h.config.Git, spec.Folder)
	if err != nil {
		return nil, err
	}
	r, err := h.openServed(ctx, spec.Name, f)
	if err != nil {
		return nil, errors.Join(err, f.git.Close())
	}
	return r, nil
}

func (h *Hub) openOwn(ctx context.Context, st *repoState) (*repository, error) {
	repo, err := h.config.Git.InitBare(ctx, h.gitDir(st.ID), st.Branch)
	if err != nil {
		return nil, err
	}
	r := &repository{id: st.ID, git: repo, state: st}
	if r.known, err = repo.Refs(ctx, "refs/"); err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	return r, nil
}

// openServed opens the bare repository that stands before a folder and brings
// it up to date.
func (h *Hub) openServed(ctx context.Context, name string, f *folder) (*repository, error) {
	branch, _, err := f.git.Head(ctx)
	if err != nil {
		return nil, err
	}
	known := h.known(f.path)
	if branch == "" && known == nil {
		return nil, fmt.Errorf("the folder %q has no branch checked out (its HEAD is detached), so there is no branch to serve; run: git -C %q switch BRANCH", f.path, f.path)
	}
	if branch == "" {
		branch = known.Branch
	}
	st, err := h.identify(name, f.path, branch)
	if err != nil {
		return nil, err
	}
	repo, err := h.config.Git.InitBare(ctx, h.gitDir(st.ID), st.Branch, f.place.ObjectDirs[0])
	if err != nil {
		return nil, err
	}
	r := &repository{id: st.ID, git: repo, folder: f, state: st}
	if r.known, err = repo.Refs(ctx, "refs/"); err == nil {
		err = h.syncFolder(ctx, r)
	}
	if err != nil {
		return nil, errors.Join(err, repo.Close())
	}
	return r, h.adoptFrom(ctx, f)
}

func (h *Hub) adoptFrom(ctx context.Context, f *folder) error {
	name, email, err := h.config.Git.Identity(ctx, f.place)
	if err != nil {
		return err
	}
	return h.adopt(strings.TrimSpace(name), strings.TrimSpace(email))
}

// known is the state of a folder served before.
func (h *Hub) known(folder string) *repoState {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, st := range h.state.Repositories {
		if folder != "" && st.Folder == folder {
			clone := *st
			return &clone
		}
	}
	return nil
}

// identify finds or makes the identity of a repository.
func (h *Hub) identify(name, folder, branch string) (*repoState, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.repos, func(r *repository) bool {
		return strings.EqualFold(r.state.Name, name) || folder != "" && r.state.Folder == folder
	}) {
		return nil, errors.New("it is being served already")
	}
	var found *repoState
	for _, st := range slices.Clone(h.state.Repositories) {
		sameName := strings.EqualFold(st.Name, name)
		switch {
		case st.Folder == folder && (folder != "" || sameName):
			found = st
		case sameName:
			if err := h.forget(st); err != nil {
				return nil, err
			}
		}
	}
	now := h.now().UTC()
	if found == nil {
		found = &repoState{ID: h.state.id(), Branch: branch, Folder: folder, Created: now, Updated: now, Pushed: now}
		h.state.Repositories = append(h.state.Repositories, found)
	} else if found.Name != name {
		found.Former = append(found.Former, found.Name)
	}
	found.Name = name
	return found, h.state.save()
}

// forget drops the identity of a repository that is not served, and the hub's
// copy of it. The caller holds mu.
func (h *Hub) forget(st *repoState) error {
	h.state.Repositories = slices.DeleteFunc(h.state.Repositories, func(other *repoState) bool { return other == st })
	if st.Served {
		h.dropped = append(h.dropped, *st)
	}
	for _, p := range h.state.People {
		delete(p.Access, st.ID)
	}
	return os.RemoveAll(h.gitDir(st.ID))
}

// enter lets a repository be seen.
func (h *Hub) enter(r *repository) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.ContainsFunc(h.repos, func(other *repository) bool { return other.id == r.id }) {
		return errors.New("it is being served already")
	}
	h.repos = append(h.repos, r)
	if h.opening == 0 {
		h.opening = r.id
	}
	if !h.ran {
		return nil
	}
	r.state.Served = true
	h.dropNames(r)
	if err := h.state.save(); err != nil {
		return err
	}
	return h.tellRepositories("added", []repoState{*r.state})
}

// dropNames ends the redirects from a name that is in use again. The caller
// holds mu.
func (h *Hub) dropNames(r *repository) {
	for _, other := range h.repos {
		if other != r {
			other.state.Former = slices.DeleteFunc(other.state.Former, func(old string) bool {
				return strings.EqualFold(old, r.state.Name)
			})
		}
	}
}

// baseline takes what the hub's own repositories hold before Run for given:
// content that was put there to begin with was not pushed.
func (h *Hub) baseline(ctx context.Context) error {
	h.mu.RLock()
	repos, ran := slices.Clone(h.repos), h.ran
	h.mu.RUnlock()
	for _, r := range repos {
		if ran || r.folder != nil {
			continue
		}
		refs, err := r.git.Refs(ctx, "refs/")
		if err != nil {
			return err
		}
		r.moving.Lock()
		r.known = refs
		r.moving.Unlock()
	}
	return nil
}

// announce tells the App what it may see, the first time Run starts.
func (h *Hub) announce() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ran {
		return nil
	}
	h.ran = true
	var added, removed []repoState
	for _, st := range h.state.Repositories {
		served := slices.ContainsFunc(h.repos, func(r *repository) bool { return r.id == st.ID })
		switch {
		case served && !st.Served:
			added = append(added, *st)
		case !served && st.Served:
			removed = append(removed, *st)
		}
		st.Served = served
	}
	removed = append(removed, h.dropped...)
	h.dropped = nil
	fresh := !h.state.Installation.Announced
	h.state.Installation.Announced = true
	if err := h.state.save(); err != nil {
		return err
	}
	if fresh {
		return h.tellInstallation("created", added)
	}
	return errors.Join(h.tellRepositories("removed", removed), h.tellRepositories("added", added))
}
