package localhub

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func (h *Hub) getApp(*exchange) (any, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.appShape(), nil
}

func (h *Hub) listInstallations(x *exchange) (any, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := []object{h.installationShape()}
	p := pageOf(x.r, 30)
	from, to := p.bounds(len(all))
	h.link(x, p, len(all))
	return all[from:to], nil
}

// installationNamed checks the id in a request's path.
func (h *Hub) installationNamed(x *exchange) error {
	id, err := strconv.ParseInt(x.r.PathValue("id"), 10, 64)
	if err != nil || id != h.InstallationID() {
		return errNotFound()
	}
	return nil
}

func (h *Hub) getInstallation(x *exchange) (any, error) {
	if err := h.installationNamed(x); err != nil {
		return nil, err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.installationShape(), nil
}

// tokenRequest is the body of a request for an installation token.
type tokenRequest struct {
	Repositories  []string          `json:"repositories"`
	RepositoryIDs []int64           `json:"repository_ids"`
	Permissions   map[string]string `json:"permissions"`
}

// maxTokenRepositories is GitHub's limit for one token.
const maxTokenRepositories = 500

// createToken gives out an installation token, narrowed as asked.
func (h *Hub) createToken(x *exchange) (any, error) {
	if err := h.installationNamed(x); err != nil {
		return nil, err
	}
	var request tokenRequest
	if err := readJSON(x.w, x.r, maxRequestBody, &request); err != nil {
		return nil, err
	}
	permissions, err := narrowedPermissions(request.Permissions)
	if err != nil {
		return nil, err
	}
	chosen, err := h.narrowedRepositories(request)
	if err != nil {
		return nil, err
	}
	t := installationToken{
		ID: randomHex(8), Installation: h.InstallationID(), Permissions: permissions,
		Expires: h.now().Add(installationLife),
	}
	answer := object{"expires_at": stamp(t.Expires), "permissions": permissions, "repository_selection": "selected"}
	if chosen != nil {
		t.Repositories = []int64{}
		shapes := make([]object, len(chosen))
		h.mu.RLock()
		for i, v := range chosen {
			t.Repositories = append(t.Repositories, v.ID)
			shapes[i] = h.listedShape(v)
		}
		h.mu.RUnlock()
		answer["repositories"] = shapes
	}
	if answer["token"], err = h.sealToken(t); err != nil {
		return nil, err
	}
	return answer, nil
}

// narrowedPermissions checks what a token shall be good for against what the
// App was granted. Metadata is always part of it.
func narrowedPermissions(asked map[string]string) (map[string]string, error) {
	granted := appPermissions()
	if len(asked) == 0 {
		return granted, nil
	}
	out := map[string]string{"metadata": "read"}
	for name, level := range asked {
		enough := granted[name] == level || granted[name] == "write" && level == "read"
		if !enough {
			return nil, errUnprocessable("The permissions requested are not granted to this installation.")
		}
		out[name] = level
	}
	return out, nil
}

// narrowedRepositories finds the repositories a token shall be good for; nil
// means all.
func (h *Hub) narrowedRepositories(request tokenRequest) ([]repoView, error) {
	if len(request.Repositories) == 0 && len(request.RepositoryIDs) == 0 {
		return nil, nil
	}
	if len(request.Repositories)+len(request.RepositoryIDs) > maxTokenRepositories {
		return nil, errUnprocessable(fmt.Sprintf("You may not provide more than %d repositories.", maxTokenRepositories))
	}
	var chosen []repoView
	for _, v := range h.list(everything()) {
		named := slices.ContainsFunc(request.Repositories, func(n string) bool { return strings.EqualFold(n, v.Name) })
		if named || slices.Contains(request.RepositoryIDs, v.ID) {
			chosen = append(chosen, v)
		}
	}
	known := func(ok func(v repoView) bool) bool { return slices.ContainsFunc(chosen, ok) }
	for _, name := range request.Repositories {
		if !known(func(v repoView) bool { return strings.EqualFold(v.Name, name) }) {
			return nil, errNoAccess()
		}
	}
	for _, id := range request.RepositoryIDs {
		if !known(func(v repoView) bool { return v.ID == id }) {
			return nil, errNoAccess()
		}
	}
	return chosen, nil
}

func errNoAccess() error {
	return errUnprocessable("There is at least one repository that does not exist or is not accessible to the parent installation.")
}

// revokeInstallationToken ends the token that the request is made with.
func (h *Hub) revokeInstallationToken(x *exchange) (any, error) {
	if x.cred.holder != holderInstallation {
		return nil, errForbidden("")
	}
	if err := h.revokeInstallation(x.cred.token); err != nil {
		return nil, err
	}
	x.w.WriteHeader(http.StatusNoContent)
	return nil, nil
}

func (h *Hub) revokeInstallation(t installationToken) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, expires := range h.state.Revoked {
		if expires.Before(h.now()) {
			delete(h.state.Revoked, id)
		}
	}
	h.state.Revoked[t.ID] = t.Expires
	return h.state.save()
}
