package auth

import (
	"net/http"
	"net/url"
	"strings"
)

// MetadataPath is where the metadata of one address is found: this path, a
// slash, and the address's name (RFC 9728 section 3.1).
const MetadataPath = "/.well-known/oauth-protected-resource"

// ChallengeHeader is the header that carries a challenge, with status 401.
const ChallengeHeader = "WWW-Authenticate"

// MetadataURL gives the address of the metadata of issuer/name. A final slash
// of the name stays: clients compare the address with the one they were given.
func MetadataURL(issuer, name string) string {
	plain, slash := strings.CutSuffix(name, "/")
	address := issuer + MetadataPath + "/" + url.PathEscape(plain)
	if slash {
		address += "/"
	}
	return address
}

// Challenge gives the value of WWW-Authenticate that leads a client to the
// sign-in. tokenSent says that the request carried a token, which then was
// not valid: only that is an error to name (RFC 6750 section 3.1).
func Challenge(issuer, name string, tokenSent bool) string {
	challenge := `Bearer resource_metadata="` + MetadataURL(issuer, name) + `"`
	if tokenSent {
		challenge += `, error="invalid_token", error_description="The access token is not valid here or has ended"`
	}
	return challenge
}

// BearerToken reads the access token of a request. sent tells whether the
// request tried to show one, good or not: an empty or overlong token and a
// doubled header are sent and "". Another scheme is no token, and a token in
// the query does not exist here (RFC 6750 section 2.3 lets servers refuse it).
func BearerToken(h http.Header) (token string, sent bool) {
	values := h.Values("Authorization")
	for _, value := range values {
		scheme, rest, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			token, sent = strings.TrimLeft(rest, " "), true
		}
	}
	if len(values) > 1 || len(token) > MaxSealed {
		return "", sent
	}
	return token, sent
}
