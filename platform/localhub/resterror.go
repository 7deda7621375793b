package localhub

import (
	"fmt"
	"net/http"
)

// docsRoot is where GitHub's error answers point to.
const docsRoot = "https://docs.github.com"

// restError is an answer of the REST API that is no success, in GitHub's form.
type restError struct {
	Status  int
	Message string
	// Docs is the path of the documentation below docsRoot, "/rest" if "".
	Docs string
	// URL is where a moved thing is now.
	URL string
	// Errors are the details of a failed validation.
	Errors []any
	// Header holds further response headers.
	Header map[string]string
}

func (e *restError) Error() string { return fmt.Sprintf("%d %s", e.Status, e.Message) }

// body is the answer's JSON.
func (e *restError) body() map[string]any {
	docs := e.Docs
	if docs == "" {
		docs = "/rest"
	}
	b := map[string]any{"message": e.Message, "documentation_url": docsRoot + docs, "status": fmt.Sprint(e.Status)}
	if e.URL != "" {
		b["url"] = e.URL
	}
	if len(e.Errors) > 0 {
		b["errors"] = e.Errors
	}
	return b
}

func unauthorized(message string) *restError {
	return &restError{Status: http.StatusUnauthorized, Message: message}
}

func errBadCredentials() *restError { return unauthorized("Bad credentials") }

func errNoJWT() *restError { return unauthorized("A JSON web token could not be decoded") }

func errAnonymous() *restError { return unauthorized("Requires authentication") }

func errNotFound() *restError { return &restError{Status: http.StatusNotFound, Message: "Not Found"} }

// errForbidden is the refusal of what a credential's kind or permissions do
// not reach. Needs is the missing permission, as in "contents=read".
func errForbidden(needs string) *restError {
	e := &restError{Status: http.StatusForbidden, Message: "Resource not accessible by integration"}
	if needs != "" {
		e.Header = map[string]string{"X-Accepted-GitHub-Permissions": needs}
	}
	return e
}

func errUnprocessable(message string, details ...any) *restError {
	return &restError{Status: http.StatusUnprocessableEntity, Message: message, Errors: details}
}

// errEmpty is what a repository without commits answers about commits.
func errEmpty() *restError {
	return &restError{Status: http.StatusConflict, Message: "Git Repository is empty."}
}

// errUnimplemented is the loud answer for a GitHub operation that is not
// built: no client takes it for an ordinary refusal.
func errUnimplemented(what string) *restError {
	return &restError{Status: http.StatusNotImplemented, Message: "LOCALHUB_UNIMPLEMENTED: " + what + " exists on GitHub but is not built into this local GitHub."}
}
