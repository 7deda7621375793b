package localhub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/platform/git"
)

// served finds a repository by its current name. The caller holds mu.
func (h *Hub) served(name string) (*repository, error) {
	for _, r := range h.repos {
		if strings.EqualFold(r.state.Name, name) {
			return r, nil
		}
	}
	return nil, fmt.Errorf("repository %q: %w", name, errNoRepository)
}

// RenameRepository gives a repository another name, as its owner does on
// GitHub. The old name redirects until it is used again.
func (h *Hub) RenameRepository(old, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := h.served(old)
	if err != nil {
		return err
	}
	if other, err := h.served(name); err == nil && other != r {
		return fmt.Errorf("repository %q exists already", name)
	}
	from := r.state.Name
	if from == name {
		return nil
	}
	r.state.Former = slices.DeleteFunc(r.state.Former, func(n string) bool { return strings.EqualFold(n, name) })
	if !strings.EqualFold(from, name) {
		r.state.Former = append(r.state.Former, from)
	}
	r.state.Name, r.state.Updated = name, h.now().UTC()
	h.dropNames(r)
	if err := h.state.save(); err != nil {
		return err
	}
	return h.tellRepository(r, "renamed", object{"repository": object{"name": object{"from": from}}})
}

// RemoveRepository takes a repository out of the App's installation, as its
// owner does on GitHub. Nobody sees it any more; its content stays, and
// AddRepository brings it back.
func (h *Hub) RemoveRepository(name string) error {
	r, err := h.leave(name, func(r *repository) error {
		return h.tellRepositories("removed", []repoState{*r.state})
	})
	if err != nil {
		return err
	}
	return r.close()
}

// DeleteRepository removes a repository of the hub's own with its content, or
// stops serving a folder, which itself stays as it is. GitHub tells Apps of
// it only as a removal.
func (h *Hub) DeleteRepository(name string) error {
	r, err := h.leave(name, func(r *repository) error {
		r.state.Served = false
		return errors.Join(h.forget(r.state), h.state.save(), h.tellRepositories("removed", []repoState{*r.state}))
	})
	if err != nil {
		return err
	}
	return r.close()
}

// leave ends the serving of a repository.
func (h *Hub) leave(name string, also func(r *repository) error) (*repository, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := h.served(name)
	if err != nil {
		return nil, err
	}
	h.repos = slices.DeleteFunc(h.repos, func(other *repository) bool { return other == r })
	r.state.Served = false
	if err := h.state.save(); err != nil {
		return nil, err
	}
	return r, also(r)
}

// SetDefaultBranch makes another branch of a repository of the hub's own its
// default. For a served folder that is whatever is checked out there.
func (h *Hub) SetDefaultBranch(ctx context.Context, name, branch string) error {
	h.mu.RLock()
	r, err := h.served(name)
	h.mu.RUnlock()
	if err != nil {
		return err
	}
	if r.folder != nil {
		return fmt.Errorf("repository %q is served from a folder, whose checked-out branch is its default", name)
	}
	r.moving.Lock()
	defer r.moving.Unlock()
	h.mu.RLock()
	same := r.state.Branch == branch
	h.mu.RUnlock()
	if same {
		return nil
	}
	if _, err := r.git.Ref(ctx, "refs/heads/"+branch); err != nil {
		if isAbsent(err) {
			return fmt.Errorf("repository %q has no branch %q: %w", name, branch, git.ErrNotFound)
		}
		return err
	}
	if err := r.git.SetHead(ctx, branch); err != nil {
		return err
	}
	return h.setBranch(r, branch)
}

// SetArchived makes a repository read-only or writable again.
func (h *Hub) SetArchived(name string, archived bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, err := h.served(name)
	if err != nil || r.state.Archived == archived {
		return err
	}
	r.state.Archived, r.state.Updated = archived, h.now().UTC()
	if err := h.state.save(); err != nil {
		return err
	}
	action := "unarchived"
	if archived {
		action = "archived"
	}
	return h.tellRepository(r, action, nil)
}

// SetAccess gives a person a permission on one repository: "none", "read",
// "triage", "write", "maintain" or "admin".
func (h *Hub) SetAccess(login, name, level string) error {
	p, ok := parsePermission(level)
	if !ok {
		return fmt.Errorf("%q is no permission; there are %s", level, strings.Join(permissionNames, ", "))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	person, ok := h.person(login)
	if !ok {
		return fmt.Errorf("there is no person %q", login)
	}
	r, err := h.served(name)
	if err != nil {
		return err
	}
	if person.Access == nil {
		person.Access = map[int64]permission{}
	}
	person.Access[r.id] = p
	return h.state.save()
}

// IssueToken gives a person one more token.
func (h *Hub) IssueToken(login string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	person, ok := h.person(login)
	if !ok {
		return "", fmt.Errorf("there is no person %q", login)
	}
	token := newUserToken()
	person.Tokens = append(person.Tokens, token)
	return token, h.state.save()
}

// RevokeToken ends a token. When it was a person's, the App is told that the
// person took back what they had allowed it.
func (h *Hub) RevokeToken(token string) error {
	if c, err := h.installationCredential(token); err == nil {
		return h.revokeInstallation(c.token)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.state.People {
		left := slices.DeleteFunc(slices.Clone(p.Tokens), func(own string) bool { return sameSecret(own, token) })
		if len(left) == len(p.Tokens) {
			continue
		}
		p.Tokens = left
		if err := h.state.save(); err != nil {
			return err
		}
		return h.tellRevoked(*p)
	}
	return errors.New("there is no such token")
}
