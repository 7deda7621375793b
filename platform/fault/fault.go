// Package fault holds the one outward error type: what a caller is told when
// something cannot be done, apart from why it failed inside.
//
// A fault's sentence is written for an outsider, usually a model, and says
// what is wrong and what to do next. Everything that is not a fault is
// answered with a short sentence and a reference, and its cause goes to the
// log under the same reference.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the class of a fault. The list is closed and append-only, since
// kinds travel between processes.
type Kind string

// The kinds, in the order of who has to act: the caller, then the operator.
const (
	KindInvalid         Kind = "invalid"
	KindUnauthenticated Kind = "unauthenticated"
	KindDenied          Kind = "denied"
	KindNotFound        Kind = "not_found"
	KindConflict        Kind = "conflict"
	KindLimited         Kind = "limited"
	KindUnavailable     Kind = "unavailable"
	KindInternal        Kind = "internal"
)

// Kinds lists every kind, for tables that must cover all of them.
func Kinds() []Kind {
	return []Kind{
		KindInvalid, KindUnauthenticated, KindDenied, KindNotFound,
		KindConflict, KindLimited, KindUnavailable, KindInternal,
	}
}

// Error is what a caller may be told. Msg and Fixes are outward text: every
// untrusted string inside them has gone through Quote.
type Error struct {
	// Kind is the class of the fault.
	Kind Kind
	// Msg is one sentence that says what is wrong, without a final full stop.
	Msg string
	// Fixes are next steps the caller can take, each a sentence without a
	// final full stop.
	Fixes []string
	// Field names the input field at fault, if it is one.
	Field string
	// RetryAfter is how long to wait before trying again; zero if unknown.
	RetryAfter time.Duration

	cause error
}

// Error gives the text for the log: the outward sentence and the cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Msg
	}
	return e.Msg + ": " + e.cause.Error()
}

// Unwrap gives the inner cause, which never leaves the process.
func (e *Error) Unwrap() error { return e.cause }

// Fix adds a next step.
func (e *Error) Fix(format string, args ...any) *Error {
	e.Fixes = append(e.Fixes, fmt.Sprintf(format, args...))
	return e
}

// On names the input field at fault.
func (e *Error) On(field string) *Error {
	e.Field = field
	return e
}

// Because keeps the inner cause for the log.
func (e *Error) Because(err error) *Error {
	e.cause = err
	return e
}

// After says how long to wait before trying again.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

func newFault(kind Kind, format string, args []any) *Error {
	return &Error{Kind: kind, Msg: fmt.Sprintf(format, args...)}
}

// Invalid says that the input is wrong and how.
func Invalid(format string, args ...any) *Error { return newFault(KindInvalid, format, args) }

// Unauthenticated says that the caller has to sign in.
func Unauthenticated(format string, args ...any) *Error {
	return newFault(KindUnauthenticated, format, args)
}

// Denied says that the caller may not do this. It never tells whether
// something exists that the caller may not read: that is NotFound.
func Denied(format string, args ...any) *Error { return newFault(KindDenied, format, args) }

// NotFound says that something is missing, with near misses in Fixes.
func NotFound(format string, args ...any) *Error { return newFault(KindNotFound, format, args) }

// Conflict says that the state moved or stands in the way.
func Conflict(format string, args ...any) *Error { return newFault(KindConflict, format, args) }

// Limited says that a limit of rate or size was reached.
func Limited(format string, args ...any) *Error { return newFault(KindLimited, format, args) }

// Unavailable says that something needed is not there yet or just now.
func Unavailable(format string, args ...any) *Error {
	return newFault(KindUnavailable, format, args)
}

// Internal says that vault itself failed in a way worth a sentence of its own.
func Internal(format string, args ...any) *Error { return newFault(KindInternal, format, args) }

// KindOf gives the kind of the outermost fault in err, KindInternal for any
// other error and "" for nil.
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return KindInternal
}

// As gives the outermost fault in err.
func As(err error) (*Error, bool) {
	var f *Error
	ok := errors.As(err, &f)
	return f, ok
}

// Public gives the only text about err that may leave the process: the
// fault's sentences, or for anything else a fixed sentence with the reference
// under which the cause was logged.
func Public(err error, reference string) string {
	f, ok := As(err)
	if !ok {
		return "Something went wrong on our side; nothing was changed by this call. " +
			"Try again, and give the reference " + reference + " to the operator if it stays."
	}
	var b strings.Builder
	b.WriteString(sentence(f.Msg))
	for _, fix := range f.Fixes {
		b.WriteByte(' ')
		b.WriteString(sentence(fix))
	}
	if f.RetryAfter > 0 {
		fmt.Fprintf(&b, " Try again in %s.", humanDuration(f.RetryAfter))
	}
	if f.Kind == KindInternal {
		b.WriteString(" Reference: " + reference + ".")
	}
	return b.String()
}

// sentence begins text with a capital and ends it with a full stop unless it
// has an ending of its own.
func sentence(text string) string {
	if text == "" {
		return text
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if strings.ContainsRune(".!?", rune(text[len(text)-1])) {
		return text
	}
	return text + "."
}

// humanDuration rounds up to whole seconds, or minutes above two of them.
func humanDuration(d time.Duration) string {
	seconds := int((d + time.Second - 1) / time.Second)
	switch {
	case seconds == 1:
		return "1 second"
	case seconds < 120:
		return fmt.Sprintf("%d seconds", seconds)
	default:
		return fmt.Sprintf("%d minutes", (seconds+59)/60)
	}
}
