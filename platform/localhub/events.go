package localhub

import "net/http"

// everything is the standing of the hub itself, which sees all.
func everything() credential {
	return credential{holder: holderInstallation, token: installationToken{Permissions: appPermissions()}}
}

// firstPerson is who acts on the account's web pages and in served folders.
func (h *Hub) firstPerson() personState {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.first()
}

// first is firstPerson for callers that hold mu.
func (h *Hub) first() personState {
	p := *h.state.People[0]
	p.Tokens, p.Access = nil, nil
	return p
}

// tellInstallation tells that the App was installed. The caller holds mu.
func (h *Hub) tellInstallation(action string, repos []repoState) error {
	return h.hooks.send("installation", action, 0, object{
		"installation": h.installationEventShape(), "repositories": h.briefShapes(repos),
		"sender": h.userShape(h.first()),
	})
}

// tellRepositories tells that the App sees more or fewer repositories. The
// caller holds mu.
func (h *Hub) tellRepositories(action string, repos []repoState) error {
	if len(repos) == 0 {
		return nil
	}
	added, removed := []object{}, []object{}
	if action == "added" {
		added = h.briefShapes(repos)
	} else {
		removed = h.briefShapes(repos)
	}
	return h.hooks.send("installation_repositories", action, 0, object{
		"installation": h.installationEventShape(), "repository_selection": "selected",
		"repositories_added": added, "repositories_removed": removed,
		"requester": nil, "sender": h.userShape(h.first()),
	})
}

// installationEventShape has times as numbers, as webhooks do.
func (h *Hub) installationEventShape() object {
	o := h.installationShape()
	delete(o, "client_id")
	o["created_at"], o["updated_at"] = h.state.Installation.CreatedAt.Unix(), h.state.Installation.UpdatedAt.Unix()
	return o
}

func (h *Hub) briefShapes(repos []repoState) []object {
	out := make([]object, len(repos))
	for i, r := range repos {
		out[i] = h.briefShape(r)
	}
	return out
}

// tellRepository tells what happened to a repository itself. The caller holds
// mu.
func (h *Hub) tellRepository(r *repository, action string, changes object) error {
	payload := object{
		"repository": h.repositoryShape(h.view(everything(), r)), "organization": h.organizationShape(),
		"sender": h.userShape(h.first()), "installation": h.installationRef(),
	}
	if changes != nil {
		payload["changes"] = changes
	}
	return h.hooks.send("repository", action, r.id, payload)
}

// installationRef is how events name the installation that they are sent to.
func (h *Hub) installationRef() object {
	id := h.state.Installation.ID
	return object{"id": id, "node_id": installationNodeID(id)}
}

// tellRevoked tells that a person took back what they had allowed the App.
// The caller holds mu.
func (h *Hub) tellRevoked(p personState) error {
	return h.hooks.send("github_app_authorization", "revoked", 0, object{"sender": h.userShape(p)})
}

// ping is what GitHub sends when a webhook is set up.
func (h *Hub) ping() error {
	return h.hooks.send("ping", "", 0, object{
		"zen": "Keep it local.", "hook_id": h.state.App.HookID,
		"hook": object{
			"type": "App", "id": h.state.App.HookID, "name": "web", "active": true, "events": appEvents(), "app_id": h.app.ID,
			"config": object{"url": h.config.WebhookURL, "content_type": "json", "insecure_ssl": "0", "secret": "********"},
		},
	})
}

// statusOf gives a delivery's status line for the delivery log.
func statusOf(d Delivery) string {
	if d.StatusCode == 0 {
		return d.Status
	}
	if text := http.StatusText(d.StatusCode); d.Status != "OK" && text != "" {
		return text
	}
	return d.Status
}
