package localhub

import (
	"errors"
	"net/http"

	"vault/platform/git"
)

// maxAdminBody bounds what an admin request may carry.
const maxAdminBody = 64 << 10

// serveAdmin answers acts that GitHub offers on its web pages, for tests that
// run beside the hub's process. They need the admin token.
//
//	GET    /admin/state                    who and what there is
//	POST   /admin/repositories             {"name"}: a new one of the hub's own
//	PATCH  /admin/repositories/{name}      {"name", "default_branch", "archived"}
//	DELETE /admin/repositories/{name}      ?content=delete also forgets it
//	PUT    /admin/access                   {"login", "repository", "permission"}
//	POST   /admin/tokens                   {"login"}: one more token
//	POST   /admin/tokens/revoke            {"token"}
//	POST   /admin/ping                     sends the webhook a ping
//	GET    /admin/deliveries               the webhooks that are remembered
func (h *Hub) serveAdmin(w http.ResponseWriter, r *http.Request) {
	if token, _ := presented(r); !sameSecret(token, h.config.AdminToken) {
		h.fail(w, r, errBadCredentials())
		return
	}
	mux := http.NewServeMux()
	for pattern, act := range map[string]func(r *http.Request, in adminRequest) (any, error){
		"GET /admin/state":                  func(*http.Request, adminRequest) (any, error) { return h.adminState(), nil },
		"POST /admin/repositories":          h.adminAdd,
		"PATCH /admin/repositories/{name}":  h.adminChange,
		"DELETE /admin/repositories/{name}": h.adminRemove,
		"PUT /admin/access": func(_ *http.Request, in adminRequest) (any, error) {
			return object{}, h.SetAccess(in.Login, in.Repository, in.Permission)
		},
		"POST /admin/tokens": func(_ *http.Request, in adminRequest) (any, error) {
			token, err := h.IssueToken(in.Login)
			return object{"token": token}, err
		},
		"POST /admin/tokens/revoke": func(_ *http.Request, in adminRequest) (any, error) {
			return object{}, h.RevokeToken(in.Token)
		},
		"POST /admin/ping": func(*http.Request, adminRequest) (any, error) {
			h.mu.RLock()
			defer h.mu.RUnlock()
			return object{}, h.ping()
		},
		"GET /admin/deliveries": func(*http.Request, adminRequest) (any, error) { return h.adminDeliveries(), nil },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { h.act(w, r, act) })
	}
	mux.ServeHTTP(w, r)
}

// adminRequest is the body of every admin act; each uses its part.
type adminRequest struct {
	Name          string `json:"name"`
	DefaultBranch string `json:"default_branch"`
	Archived      *bool  `json:"archived"`
	Login         string `json:"login"`
	Repository    string `json:"repository"`
	Permission    string `json:"permission"`
	Token         string `json:"token"`
}

func (h *Hub) act(w http.ResponseWriter, r *http.Request, act func(*http.Request, adminRequest) (any, error)) {
	var in adminRequest
	if err := readJSON(w, r, maxAdminBody, &in); err != nil {
		h.fail(w, r, err)
		return
	}
	out, err := act(r, in)
	switch {
	case errors.Is(err, errNoRepository), errors.Is(err, git.ErrNotFound):
		h.fail(w, r, &restError{Status: http.StatusNotFound, Message: err.Error()})
	case err != nil:
		h.fail(w, r, errUnprocessable(err.Error()))
	default:
		h.writeJSON(w, http.StatusOK, out)
	}
}

func (h *Hub) adminAdd(r *http.Request, in adminRequest) (any, error) {
	repo, err := h.AddRepository(r.Context(), RepositorySpec{Name: in.Name})
	return adminShape(repo), err
}

func (h *Hub) adminChange(r *http.Request, in adminRequest) (any, error) {
	name := r.PathValue("name")
	if in.DefaultBranch != "" {
		if err := h.SetDefaultBranch(r.Context(), name, in.DefaultBranch); err != nil {
			return nil, err
		}
	}
	if in.Archived != nil {
		if err := h.SetArchived(name, *in.Archived); err != nil {
			return nil, err
		}
	}
	if in.Name != "" {
		return object{}, h.RenameRepository(name, in.Name)
	}
	return object{}, nil
}

func (h *Hub) adminRemove(r *http.Request, _ adminRequest) (any, error) {
	if r.URL.Query().Get("content") == "delete" {
		return object{}, h.DeleteRepository(r.PathValue("name"))
	}
	return object{}, h.RemoveRepository(r.PathValue("name"))
}

func adminShape(r Repository) object {
	return object{
		"id": r.ID, "node_id": r.NodeID, "name": r.Name, "full_name": r.FullName,
		"default_branch": r.DefaultBranch, "folder": r.Folder, "git_dir": r.GitDir,
	}
}

func (h *Hub) adminState() object {
	people, repos := []object{}, []object{}
	for _, p := range h.People() {
		people = append(people, object{"login": p.Login, "name": p.Name, "email": p.Email, "token": p.Token})
	}
	for _, r := range h.Repositories() {
		repos = append(repos, adminShape(r))
	}
	return object{
		"account": h.Account(), "installation_id": h.InstallationID(), "app_id": h.app.ID, "client_id": h.app.ClientID,
		"webhook_url": h.config.WebhookURL, "faults": h.config.Faults, "people": people, "repositories": repos,
	}
}

func (h *Hub) adminDeliveries() []object {
	out := []object{}
	for _, d := range h.Deliveries() {
		out = append(out, h.deliveryShape(d))
	}
	return out
}
