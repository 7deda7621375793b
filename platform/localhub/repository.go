package localhub

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"vault/platform/git"
)

// Repository is what the hub serves under a name.
type Repository struct {
	ID            int64
	NodeID        string
	Name          string
	FullName      string
	DefaultBranch string
	// Folder is the user's folder that it is served from, "" for the hub's
	// own.
	Folder string
	// GitDir is the bare repository that the hub answers from.
	GitDir string
}

// repository is one served repository.
type repository struct {
	id     int64
	git    *git.Repo
	folder *folder // nil for the hub's own

	// state is guarded by Hub.mu.
	state *repoState

	// moving serialises what moves refs or tells of it; known are the refs
	// that webhooks have told of.
	moving sync.Mutex
	known  map[string]git.OID
}

func (r *repository) close() error {
	errs := []error{r.git.Close()}
	if r.folder != nil {
		errs = append(errs, r.folder.git.Close())
	}
	return errors.Join(errs...)
}

// repoView is a repository as one request sees it: a copy that does not
// change while the request runs.
type repoView struct {
	repoState
	repo       *repository
	git        *git.Repo
	fullName   string
	permission permission
}

// errMoved says that a name is one that a repository had before.
type errMoved struct{ to repoView }

func (e errMoved) Error() string { return "the repository is now " + e.to.fullName }

// errNoRepository says that there is nothing of that name for this caller.
var errNoRepository = errors.New("no such repository")

// view copies a repository for a credential. The caller holds mu.
func (h *Hub) view(c credential, r *repository) repoView {
	v := repoView{repoState: *r.state, repo: r, git: r.git, permission: h.permission(c, r.state)}
	v.Former = nil
	v.fullName = h.config.Account + "/" + v.Name
	return v
}

// find looks a repository up by name for a credential: errNoRepository if
// there is none that it may see, errMoved if it has another name now.
func (h *Hub) find(c credential, owner, name string) (repoView, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if !strings.EqualFold(owner, h.config.Account) {
		return repoView{}, errNoRepository
	}
	for _, r := range h.repos {
		if strings.EqualFold(r.state.Name, name) {
			return h.visible(c, r)
		}
	}
	for _, r := range h.repos {
		if slices.ContainsFunc(r.state.Former, func(old string) bool { return strings.EqualFold(old, name) }) {
			v, err := h.visible(c, r)
			if err == nil {
				err = errMoved{v}
			}
			return v, err
		}
	}
	return repoView{}, errNoRepository
}

// findID looks a repository up by its database id.
func (h *Hub) findID(c credential, id int64) (repoView, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, r := range h.repos {
		if r.id == id {
			return h.visible(c, r)
		}
	}
	return repoView{}, errNoRepository
}

func (h *Hub) visible(c credential, r *repository) (repoView, error) {
	v := h.view(c, r)
	if v.permission == permissionNone {
		return repoView{}, errNoRepository
	}
	return v, nil
}

// list gives the repositories that a credential may see, in the order of
// their ids, as GitHub's lists have them.
func (h *Hub) list(c credential) []repoView {
	h.mu.RLock()
	defer h.mu.RUnlock()
	var views []repoView
	for _, r := range h.repos {
		if v := h.view(c, r); v.permission > permissionNone {
			views = append(views, v)
		}
	}
	slices.SortFunc(views, func(a, b repoView) int { return int(a.ID - b.ID) })
	return views
}

// nameForm is checked by hand: a name is a path segment of URLs.
func checkName(name string) error {
	bad := strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune(alphanumeric+"._-", r)
	})
	if bad || name == "" || len(name) > 100 || strings.Trim(name, ".") == "" || strings.HasSuffix(strings.ToLower(name), ".git") {
		return fmt.Errorf("%q cannot be the name of a repository: letters, digits, '.', '_' and '-' only, at most 100, not ending in .git", name)
	}
	return nil
}

func (h *Hub) gitDir(id int64) string {
	return filepath.Join(h.config.Dir, "repositories", fmt.Sprintf("%d.git", id))
}

func (h *Hub) public(r *repository) Repository {
	return Repository{
		ID: r.id, NodeID: nodeID(nodeRepository, r.id), Name: r.state.Name,
		FullName: h.config.Account + "/" + r.state.Name, DefaultBranch: r.state.Branch,
		Folder: r.state.Folder, GitDir: r.git.Dir(),
	}
}

// Repositories lists what is served, in the order in which it was added.
func (h *Hub) Repositories() []Repository {
	h.mu.RLock()
	defer h.mu.RUnlock()
	out := make([]Repository, len(h.repos))
	for i, r := range h.repos {
		out[i] = h.public(r)
	}
	return out
}
