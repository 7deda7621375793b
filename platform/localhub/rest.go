package localhub

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// route answers one REST operation. It returns what to answer with as JSON,
// nil if it has answered by itself.
type route func(x *exchange) (any, error)

// apiVersion is the version of the REST API that is spoken.
const apiVersion = "2022-11-28"

// routes are the REST operations that are built.
func (h *Hub) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]route{
		"GET /app":                                             h.forApp(h.getApp),
		"GET /app/installations":                               h.forApp(h.listInstallations),
		"GET /app/installations/{id}":                          h.forApp(h.getInstallation),
		"POST /app/installations/{id}/access_tokens":           h.forApp(h.createToken),
		"GET /app/hook/deliveries":                             h.forApp(h.listDeliveries),
		"GET /app/hook/deliveries/{id}":                        h.forApp(h.getDelivery),
		"POST /app/hook/deliveries/{id}/attempts":              h.forApp(h.redeliver),
		"GET /installation/repositories":                       h.installationRepositories,
		"DELETE /installation/token":                           h.revokeInstallationToken,
		"GET /user":                                            h.forPerson(h.getUser),
		"GET /user/installations":                              h.forPerson(h.userInstallations),
		"GET /user/installations/{id}/repositories":            h.forPerson(h.userRepositories),
		"GET /rate_limit":                                      h.getRateLimit,
		"GET /repos/{owner}/{repo}":                            h.getRepository,
		"GET /repos/{owner}/{repo}/compare/{basehead...}":      h.forContents(h.compare),
		"GET /repos/{owner}/{repo}/commits/{ref...}":           h.forContents(h.getCommit),
		"GET /repos/{owner}/{repo}/git/blobs/{sha}":            h.forContents(h.getBlob),
		"GET /repos/{owner}/{repo}/git/trees/{ref...}":         h.forContents(h.getTree),
		"GET /repos/{owner}/{repo}/git/ref/{ref...}":           h.forContents(h.getRef),
		"GET /repos/{owner}/{repo}/git/matching-refs/{ref...}": h.forContents(h.matchingRefs),
		"GET /repos/{owner}/{repo}/git/commits/{sha}":          h.forContents(h.getGitCommit),
		"GET /repos/{owner}/{repo}/branches/{branch...}":       h.forContents(h.getBranch),
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			x, _ := r.Context().Value(exchangeKey{}).(*exchange)
			x.r = r // with the pattern's values
			h.finish(x, answer)
		})
	}
	return mux
}

type exchangeKey struct{}

func (h *Hub) finish(x *exchange, answer route) {
	body, err := answer(x)
	switch {
	case err != nil:
		h.fail(x.w, x.r, err)
	case body != nil:
		status := http.StatusOK
		if x.r.Method == http.MethodPost {
			status = http.StatusCreated
		}
		h.writeJSON(x.w, status, body)
	}
}

// serveREST authenticates, counts and routes a REST request.
func (h *Hub) serveREST(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-GitHub-Media-Type", mediaType(r.Header.Get("Accept")).header())
	w.Header().Set("X-GitHub-Api-Version-Selected", apiVersion)
	cred, err := h.authenticate(r)
	if err != nil {
		usage{resource: resourceCore, reset: h.now()}.set(w.Header())
		h.fail(w, r, err)
		return
	}
	cost := 1
	if r.URL.Path == "/rate_limit" {
		cost = 0
	}
	used, granted := h.limits.take(cred, resourceCore, cost, h.now())
	used.set(w.Header())
	x := &exchange{w: w, r: r, cred: cred}
	switch v := r.Header.Get("X-GitHub-Api-Version"); {
	case !granted:
		h.fail(w, r, &restError{Status: http.StatusForbidden, Message: cred.exceeded(), Docs: "/rest/using-the-rest-api/rate-limits-for-the-rest-api"})
	case v != "" && v != apiVersion:
		h.fail(w, r, &restError{Status: http.StatusBadRequest, Message: fmt.Sprintf("%q is not a supported API version.", v)})
	default:
		h.route(x)
	}
}

func (h *Hub) route(x *exchange) {
	if err := h.byID(x); err != nil {
		h.fail(x.w, x.r, err)
		return
	}
	if _, pattern := h.rest.Handler(x.r); pattern == "" || path.Clean(x.r.URL.Path) != x.r.URL.Path {
		h.fail(x.w, x.r, unknownRoute(x))
		return
	}
	h.rest.ServeHTTP(x.w, x.r.WithContext(withExchange(x)))
}

// unknownRoute is the refusal of an operation that is not built: loud where
// GitHub has operations, its plain 404 elsewhere.
func unknownRoute(x *exchange) error {
	root, _, _ := strings.Cut(strings.TrimPrefix(x.r.URL.Path, "/"), "/")
	if x.cred.holder == holderNobody {
		return errAnonymous()
	}
	roots := []string{"app", "apps", "applications", "enterprises", "events", "gists", "installation", "issues", "meta", "notifications", "organizations", "orgs", "projects", "repos", "repositories", "search", "teams", "user", "users"}
	if slices.Contains(roots, root) {
		return errUnimplemented(x.r.Method + " " + x.r.URL.Path)
	}
	return errNotFound()
}

// byID rewrites /repositories/{id}/…, where renamed repositories redirect to.
func (h *Hub) byID(x *exchange) error {
	rest, ok := strings.CutPrefix(x.r.URL.EscapedPath(), "/repositories/")
	if !ok {
		return nil
	}
	number, rest, _ := strings.Cut(rest, "/")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return errNotFound()
	}
	v, err := h.findID(x.cred, id)
	if err != nil {
		return errNotFound()
	}
	escaped := "/repos/" + v.fullName
	if rest != "" {
		escaped += "/" + rest
	}
	plain, err := url.PathUnescape(escaped)
	if err != nil {
		return errNotFound()
	}
	x.r.URL.Path, x.r.URL.RawPath = plain, escaped
	return nil
}

// readable finds the repository that a request names: 404 if the caller may
// not see it, a redirect if it has another name now.
func (h *Hub) readable(x *exchange) (repoView, error) {
	if x.cred.holder == holderNobody {
		return repoView{}, errAnonymous()
	}
	v, err := h.find(x.cred, x.r.PathValue("owner"), x.r.PathValue("repo"))
	var moved errMoved
	switch {
	case errors.As(err, &moved):
		return repoView{}, h.redirect(x, moved.to)
	case err != nil:
		return repoView{}, errNotFound()
	}
	return v, nil
}

// redirect sends a client to a repository's address by id.
func (h *Hub) redirect(x *exchange, to repoView) error {
	segments := strings.SplitN(x.r.URL.EscapedPath(), "/", 5) // "", repos, owner, repo, rest
	target := h.api("/repositories/%d", to.ID)
	if len(segments) == 5 {
		target += "/" + segments[4]
	}
	if q := x.r.URL.RawQuery; q != "" {
		target += "?" + q
	}
	status, message := http.StatusMovedPermanently, "Moved Permanently"
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		status, message = http.StatusTemporaryRedirect, "Temporary Redirect"
	}
	return &restError{Status: status, Message: message, URL: target, Docs: "/rest/guides/best-practices-for-using-the-rest-api#follow-redirects", Header: map[string]string{"Location": target}}
}

// forContents wraps an operation on what is in a repository.
func (h *Hub) forContents(inner func(x *exchange, v repoView) (any, error)) route {
	return func(x *exchange) (any, error) {
		v, err := h.readable(x)
		if err != nil {
			return nil, err
		}
		if !x.cred.readsContents() {
			return nil, errForbidden("contents=read")
		}
		return inner(x, v)
	}
}

// forApp wraps an operation that takes only the App's JWT.
func (h *Hub) forApp(inner route) route {
	return func(x *exchange) (any, error) {
		if x.cred.holder != holderApp {
			return nil, errNoJWT()
		}
		return inner(x)
	}
}

// forPerson wraps an operation that takes only a person's token.
func (h *Hub) forPerson(inner route) route {
	return func(x *exchange) (any, error) {
		switch x.cred.holder {
		case holderPerson:
			return inner(x)
		case holderNobody:
			return nil, errAnonymous()
		}
		return nil, errForbidden("")
	}
}
