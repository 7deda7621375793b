package localhub

import "net/http"

// repositoryList answers with one page of repositories.
func (h *Hub) repositoryList(x *exchange, views []repoView) (any, error) {
	p := pageOf(x.r, 30)
	from, to := p.bounds(len(views))
	h.link(x, p, len(views))
	h.mu.RLock()
	defer h.mu.RUnlock()
	shapes := make([]object, 0, to-from)
	for _, v := range views[from:to] {
		shapes = append(shapes, h.listedShape(v))
	}
	return object{"total_count": len(views), "repository_selection": "selected", "repositories": shapes}, nil
}

func (h *Hub) installationRepositories(x *exchange) (any, error) {
	switch x.cred.holder {
	case holderInstallation:
		return h.repositoryList(x, h.list(x.cred))
	case holderNobody:
		return nil, errAnonymous()
	}
	return nil, &restError{
		Status:  http.StatusForbidden,
		Message: "You must authenticate with an installation access token in order to list repositories for an installation.",
	}
}

func (h *Hub) getUser(x *exchange) (any, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.personShape(x.cred.person), nil
}

// userInstallations lists the installation, to people who can read something
// in it.
func (h *Hub) userInstallations(x *exchange) (any, error) {
	readable := h.list(x.cred)
	h.mu.RLock()
	defer h.mu.RUnlock()
	all := []object{}
	if len(readable) > 0 {
		all = append(all, h.installationShape())
	}
	p := pageOf(x.r, 30)
	from, to := p.bounds(len(all))
	h.link(x, p, len(all))
	return object{"total_count": len(all), "installations": all[from:to]}, nil
}

func (h *Hub) userRepositories(x *exchange) (any, error) {
	if err := h.installationNamed(x); err != nil {
		return nil, err
	}
	views := h.list(x.cred)
	if len(views) == 0 {
		return nil, errNotFound()
	}
	return h.repositoryList(x, views)
}

func (h *Hub) getRateLimit(x *exchange) (any, error) {
	core, _ := h.limits.take(x.cred, resourceCore, 0, h.now())
	points, _ := h.limits.take(x.cred, resourceGraphQL, 0, h.now())
	search := usage{resource: "search", limit: 30, remaining: 30, reset: core.reset}
	return object{
		"rate": core.json(),
		"resources": object{
			resourceCore: core.json(), resourceGraphQL: points.json(), "search": search.json(),
		},
	}, nil
}

func (h *Hub) getRepository(x *exchange) (any, error) {
	v, err := h.readable(x)
	if err != nil {
		return nil, err
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	o := h.listedShape(v)
	o["organization"] = h.accountShape()
	o["network_count"], o["subscribers_count"] = 0, 0
	return o, nil
}
