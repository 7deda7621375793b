package localhub

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
)

// holder is whom a request's credential stands for.
type holder int

const (
	holderNobody       holder = iota // no credential was sent
	holderApp                        // the App itself, by its JWT
	holderInstallation               // the App on the account, by an installation token
	holderPerson                     // a person through the App, by a user token
)

// credential is an authenticated request's standing. It is a copy and stays
// as it was when the request came in.
type credential struct {
	holder holder
	// person is set for holderPerson.
	person personState
	// token is set for holderInstallation.
	token installationToken
	// limitKey names the account whose rate limit is drawn on.
	limitKey string
	limitID  int64
}

// presented takes the token out of a request: GitHub takes the schemes Bearer
// and token, and Basic with the token as password or as name.
func presented(r *http.Request) (token string, given bool) {
	header := r.Header.Get("Authorization")
	if header == "" {
		return "", false
	}
	scheme, value, _ := strings.Cut(header, " ")
	value = strings.TrimSpace(value)
	switch strings.ToLower(scheme) {
	case "bearer", "token":
		return value, true
	case "basic":
		decoded, err := base64.StdEncoding.DecodeString(value)
		if err != nil {
			return "", true
		}
		name, password, _ := strings.Cut(string(decoded), ":")
		if password == "" || password == "x-oauth-basic" {
			return name, true
		}
		return password, true
	}
	return "", true
}

// authenticate judges a request's credential.
func (h *Hub) authenticate(r *http.Request) (credential, error) {
	token, given := presented(r)
	switch {
	case !given:
		return credential{limitKey: "anonymous"}, nil
	case strings.HasPrefix(token, "ghs_"):
		return h.installationCredential(token)
	case strings.HasPrefix(token, "ghu_"):
		return h.personCredential(token)
	case strings.Count(token, ".") == 2:
		return h.appCredential(token)
	}
	return credential{}, errBadCredentials()
}

func (h *Hub) personCredential(token string) (credential, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, p := range h.state.People {
		if slices.ContainsFunc(p.Tokens, func(own string) bool { return sameSecret(own, token) }) {
			c := credential{holder: holderPerson, person: *p, limitKey: "user", limitID: p.ID}
			c.person.Tokens, c.person.Access = nil, nil
			return c, nil
		}
	}
	return credential{}, errBadCredentials()
}

// permission says what a credential may do with a repository. The caller
// holds mu.
func (h *Hub) permission(c credential, r *repoState) permission {
	switch c.holder {
	case holderInstallation:
		if !c.token.covers(r.ID) {
			return permissionNone
		}
		if c.token.Permissions["contents"] == "write" {
			return permissionWrite
		}
		return permissionRead
	case holderPerson:
		p, ok := h.person(c.person.Login)
		if !ok {
			return permissionNone
		}
		if set, ok := p.Access[r.ID]; ok {
			return set
		}
		return p.Role.permission(h.opening == r.ID)
	}
	return permissionNone
}

// readsContents says whether a credential that can see a repository may also
// see what is in it. A person always may; an installation token can be made
// without that right.
func (c credential) readsContents() bool {
	return c.holder != holderInstallation || c.token.Permissions["contents"] != ""
}
