package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// messageLimit is the most bytes kept of a sentence of GitHub's.
const messageLimit = 500

// judge makes an *Error of an exchange that did not succeed, and nil of one
// that did. err is what the library above the transport said. The errors
// inside a GraphQL answer of status 200 are judged by judgeQuery.
func (c *client) judge(x *exchange, err error) error {
	switch {
	case x.failure != nil:
		return c.newError(x, failureClass(x.failure), x.failure)
	case x.status == 0:
		return c.newError(x, failureClass(err), err)
	case x.notJSON:
		return c.newError(x, classUnavailable, errors.New("the answer is not JSON"))
	case x.status >= 300:
		return c.newError(x, x.statusClass(), redirectCause(err))
	case err != nil:
		return c.newError(x, classUnavailable, err)
	}
	return nil
}

// failureClass sorts a call without a complete answer: a caller that left and
// a rule of ours are not GitHub's outage.
func failureClass(err error) class {
	switch {
	case errors.Is(err, errBadCredential):
		return classUnauthorized
	case errors.Is(err, errForeign), errors.Is(err, ErrTooLarge), errors.Is(err, errNoKey):
		return classOther
	case errors.Is(err, context.Canceled) && !timedOut(err):
		return classOther
	}
	return classUnavailable
}

// redirectCause keeps our own refusal to follow a redirect and drops the
// libraries' errors, whose texts hold bodies and addresses.
func redirectCause(err error) error {
	if errors.Is(err, errForeign) {
		return errForeign
	}
	return nil
}

func (x *exchange) statusClass() class {
	switch {
	case x.limited():
		return classLimited
	case x.status == http.StatusUnauthorized:
		return classUnauthorized
	case x.status == http.StatusForbidden, x.status == http.StatusUnavailableForLegalReasons:
		return classForbidden
	case x.status == http.StatusNotFound, x.status == http.StatusGone:
		return classNotFound
	case x.status == http.StatusConflict && strings.Contains(x.body.Message, "Repository is empty"):
		return classEmpty
	case x.status >= 500:
		return classUnavailable
	}
	return classOther
}

// judgeQuery judges a GraphQL exchange. tolerated says which entries of
// "errors" are part of a normal answer; nil tolerates none.
func (c *client) judgeQuery(x *exchange, err error, tolerated func(apiError) bool) error {
	if x.failure != nil || x.status != http.StatusOK || x.notJSON {
		return c.judge(x, err)
	}
	if x.limited() {
		return c.newError(x, classLimited, nil)
	}
	left := x.body.Errors
	if tolerated != nil {
		left = slices.DeleteFunc(slices.Clone(left), tolerated)
	}
	if len(left) > 0 {
		x.body.Errors = left
		return c.newError(x, queryClass(left), nil)
	}
	if err != nil {
		return c.newError(x, classUnavailable, err)
	}
	return nil
}

// queryClass sorts the errors inside an answer. Whatever is not a plain "no"
// about something is GitHub giving up: resource limits, timeouts, its own
// faults. A query GitHub finds wrong is our mistake and stays so.
func queryClass(errs []apiError) class {
	out := classUnavailable
	for _, e := range errs {
		switch e.kind() {
		case "NOT_FOUND":
			out = classNotFound
		case "FORBIDDEN", "INSUFFICIENT_SCOPES":
			return classForbidden
		case "undefinedField", "argumentLiteralsIncompatible", "ARGUMENT_LIMIT", "MISSING_PAGINATION_BOUNDARIES",
			"EXCESSIVE_PAGINATION", "MAX_NODE_LIMIT_EXCEEDED", "LOCALHUB_UNIMPLEMENTED", "variableMismatch":
			return classOther
		default:
			return classUnavailable
		}
	}
	return out
}

// newError writes down everything an exchange tells about its failure.
func (c *client) newError(x *exchange, kind class, cause error) *Error {
	e := &Error{
		Op:               x.op,
		Status:           x.status,
		Types:            kinds(x.body.Errors),
		Message:          c.clean(x.message()),
		RequestID:        clip(x.header.Get("X-GitHub-Request-Id")),
		DocumentationURL: clip(x.body.DocumentationURL),
		class:            kind,
		cause:            withoutURL(cause),
	}
	e.SSO, e.SSORequired = c.singleSignOn(x)
	switch {
	case kind == classLimited:
		e.RetryAfter = x.wait(c.cfg.Clock())
	case kind == classUnavailable:
		e.RetryAfter = retryAfterHeader(x.header)
	}
	return e
}

// withoutURL drops the address that net/http puts before its errors: it
// names repositories.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// message is the sentence GitHub gives: its top one, else the first entry's.
func (x *exchange) message() string {
	if x.body.Message != "" || len(x.body.Errors) == 0 {
		return x.body.Message
	}
	return x.body.Errors[0].Message
}

// clean bounds a sentence and takes the credential out of it, should
// something between GitHub and us repeat what it was sent.
func (c *client) clean(s string) string {
	if credential, err := c.credential(); err == nil && credential != "" && s != "" {
		s = strings.ReplaceAll(s, credential, redacted)
	}
	return clip(s)
}

func clip(s string) string {
	if len(s) <= messageLimit {
		return s
	}
	cut := messageLimit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}

// singleSignOn reads what GitHub says about single sign-on. The address is
// shown to people, so only one on the configured web host counts.
func (c *client) singleSignOn(x *exchange) (address string, required bool) {
	header := x.header.Get("X-GitHub-SSO")
	required = strings.HasPrefix(header, "required") || slices.ContainsFunc(x.body.Errors, func(e apiError) bool {
		return e.Extensions.SAMLFailure
	})
	if !required {
		return "", false
	}
	_, address, _ = strings.Cut(header, "url=")
	if !c.trustedPage(address) {
		return "", true
	}
	return address, true
}

func (c *client) trustedPage(address string) bool {
	web, err := url.Parse(c.cfg.Web)
	if err != nil || len(address) > messageLimit || !sendable(address) {
		return false
	}
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "https" && u.User == nil && u.Host == web.Host
}
