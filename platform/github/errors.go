package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vault/platform/fault"
)

// class is what a failure means for the caller.
type class int

const (
	classOther class = iota
	classUnauthorized
	classForbidden
	classNotFound
	classLimited
	classEmpty
	classUnavailable
)

// Error is a call to GitHub that did not succeed, from a refused token to a
// cut connection. The helpers of this package say what it means; the fields
// are for people and logs.
type Error struct {
	// Op says what was asked, in words and without names.
	Op string
	// Status is the HTTP status, 0 when no complete answer came.
	Status int
	// Types are the types of GraphQL errors, or the codes of a REST refusal.
	Types []string
	// Message is GitHub's own sentence: untrusted text of at most 500 bytes.
	Message string
	// RequestID is what GitHub's support asks for.
	RequestID string
	// DocumentationURL is GitHub's pointer to its documentation: untrusted.
	DocumentationURL string
	// RetryAfter is how long to stay away; 0 when GitHub did not limit us.
	RetryAfter time.Duration
	// SSORequired says that the organisation wants a single sign-on first.
	SSORequired bool
	// SSO is where the person does that: an https address on the configured
	// web host, or "" when GitHub named none.
	SSO string

	class class
	cause error
}

// Error gives one line for the log.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("github: ")
	b.WriteString(e.Op)
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	for _, t := range e.Types {
		b.WriteString(" " + fault.Quote(t))
	}
	if e.Message != "" {
		b.WriteString(": " + fault.Quote(e.Message))
	}
	if e.RequestID != "" {
		b.WriteString(", request " + fault.Quote(e.RequestID))
	}
	if e.cause != nil {
		b.WriteString(": " + e.cause.Error())
	}
	return b.String()
}

// Unwrap gives the failure below, so that a cancelled context and
// ErrTooLarge can be told.
func (e *Error) Unwrap() error { return e.cause }

// IsUnauthorized tells whether GitHub does not accept the credential: it is
// wrong, ended or revoked.
func IsUnauthorized(err error) bool { return hasClass(err, classUnauthorized) }

// IsForbidden tells whether the credential is good but not for this. SSO and
// SSORequired of the Error may say why.
func IsForbidden(err error) bool { return hasClass(err, classForbidden) }

// IsNotFound tells whether the thing is missing, or hidden from this
// credential: GitHub makes no difference.
func IsNotFound(err error) bool { return hasClass(err, classNotFound) }

// IsRateLimited tells whether too much was asked; RetryAfter of the Error
// says how long to stay away.
func IsRateLimited(err error) bool { return hasClass(err, classLimited) }

// IsEmptyRepository tells whether the repository has no commit yet.
func IsEmptyRepository(err error) bool { return hasClass(err, classEmpty) }

// IsUnavailable tells whether GitHub could not answer just now: an outage, a
// timeout, a cut connection, a query it gave up on, an answer that is not
// GitHub's. A call its caller cancelled is not that.
func IsUnavailable(err error) bool { return hasClass(err, classUnavailable) }

func hasClass(err error, c class) bool {
	var e *Error
	return errors.As(err, &e) && e.class == c
}

// AsError gives the Error in err, for its fields.
func AsError(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// missing makes the error for something GitHub answered null for.
func missing(op, what string) *Error {
	return &Error{Op: op, Status: 200, Message: what + " is missing or not readable", class: classNotFound}
}

// timedOut tells whether err comes from a clock, the caller's or ours.
func timedOut(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}
