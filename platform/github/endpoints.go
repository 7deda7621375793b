package github

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Endpoints are the base addresses of one GitHub, each without a trailing
// slash. Credentials are sent to API and GraphQL and nowhere else.
type Endpoints struct {
	// API is the base of the REST interface.
	API string
	// GraphQL is the address of the GraphQL interface.
	GraphQL string
	// Web is the base of the pages that people open, and of sign-in.
	Web string
	// Git is the base of clone addresses: Git + "/owner/name.git".
	Git string
}

// EndpointsFor derives the endpoints from the address people know a GitHub
// by: https://github.com, a data-residency host https://NAME.ghe.com, and for
// anything else, an Enterprise server or the local hub, the addresses below
// base that GitHub Enterprise documents. A path in base is kept.
func EndpointsFor(base string) (Endpoints, error) {
	u, err := url.Parse(base)
	if err != nil {
		return Endpoints{}, errors.New("the GitHub address is not a URL")
	}
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return Endpoints{}, errors.New("the GitHub address must start with https:// or http://")
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return Endpoints{}, errors.New("the GitHub address must be a host and at most a path")
	}
	u.Host = strings.ToLower(u.Host)
	base = strings.TrimRight(u.String(), "/")
	if u.Host == "github.com" || strings.HasSuffix(u.Host, ".ghe.com") {
		api := u.Scheme + "://api." + u.Host
		return Endpoints{API: api, GraphQL: api + "/graphql", Web: base, Git: base}, nil
	}
	return Endpoints{
		API:     base + "/api/v3",
		GraphQL: base + "/api/graphql",
		Web:     base,
		Git:     base,
	}, nil
}

// CloneURL gives the address git fetches a repository from. fullName is
// "owner/name".
func (e Endpoints) CloneURL(fullName string) (string, error) {
	owner, name, err := splitName(fullName)
	if err != nil {
		return "", err
	}
	return e.Git + "/" + owner + "/" + name + ".git", nil
}

// owns tells whether a credential may be sent to u: to the interfaces, and to
// what lies beside them below the same base, where an Enterprise server and
// the local hub may send a request for a renamed repository. The pages of
// github.com are another host than its interfaces and get nothing.
func (e Endpoints) owns(u *url.URL) bool {
	if strings.Contains(u.EscapedPath(), "/../") || strings.HasSuffix(u.EscapedPath(), "/..") {
		return false
	}
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	address := plain.String()
	base := e.API
	if strings.HasPrefix(e.API, e.Web+"/") {
		base = e.Web
	}
	return u.User == nil && (address == e.GraphQL || strings.HasPrefix(address, base+"/"))
}

// splitName takes "owner/name" apart and refuses everything that could mean
// something else inside a URL.
func splitName(fullName string) (owner, name string, err error) {
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok || !plainName(owner) || !plainName(name) {
		return "", "", fmt.Errorf("%q is not an owner and a repository name", fullName)
	}
	return owner, name, nil
}

// plainName tells whether s uses only the characters GitHub allows in names
// of accounts and repositories, and is no directory step.
func plainName(s string) bool {
	if s == "" || s == "." || s == ".." || len(s) > 100 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// isOID tells whether s is a full object id, SHA-1 or SHA-256.
func isOID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
