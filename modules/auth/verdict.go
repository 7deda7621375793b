package auth

import (
	"fmt"
	"time"

	"vault/platform/fault"
	"vault/platform/github"
)

// How long a "no" is remembered. A refusal may be mended by the person at
// any time; a failure of GitHub is remembered just long enough that a crowd
// does not ask all at once.
const (
	refusalLife = 30 * time.Second
	failureLife = 3 * time.Second
	// comeBack is when to try again after an outage of unknown length.
	comeBack = 5 * time.Second
)

// verdict is a "no" of GitHub's, kept so that each caller gets an error of
// its own.
type verdict struct {
	kind fault.Kind
	// sso is where single sign-on would open repositories; ssoNeeded says
	// that it would even when GitHub named no address.
	sso       string
	ssoNeeded bool
	// retry is when trying again may help; zero for refusals.
	retry time.Time
	life  time.Duration
	cause error
}

// verdictOf sorts a failed access query.
func verdictOf(err error, now time.Time) *verdict {
	v := &verdict{kind: fault.KindInternal, life: failureLife, cause: err}
	e, ok := github.AsError(err)
	if !ok {
		return v
	}
	switch {
	case github.IsUnauthorized(err):
		v.kind, v.life = fault.KindUnauthenticated, refusalLife
	case github.IsRateLimited(err):
		v.kind, v.life = fault.KindLimited, min(max(e.RetryAfter, time.Second), refusalLife)
		v.retry = now.Add(e.RetryAfter)
	case github.IsForbidden(err):
		v.kind, v.life = fault.KindDenied, refusalLife
		v.sso, v.ssoNeeded = e.SSO, e.SSORequired
	case github.IsUnavailable(err):
		v.kind = fault.KindUnavailable
		v.retry = now.Add(max(e.RetryAfter, comeBack))
	}
	return v
}

// nothingReadable is the verdict on a good token that opens no repository.
func nothingReadable(answer github.Access) *verdict {
	return &verdict{
		kind:      fault.KindDenied,
		sso:       answer.SSO,
		ssoNeeded: len(answer.SSOBlocked) > 0,
		life:      refusalLife,
	}
}

// passing tells whether the verdict is about GitHub's state and not about
// the person.
func (v *verdict) passing() bool {
	switch v.kind {
	case fault.KindUnauthenticated, fault.KindDenied:
		return false
	}
	return true
}

// err makes the error for one caller.
func (v *verdict) err(now time.Time) error {
	wait := max(v.retry.Sub(now), time.Second)
	switch v.kind {
	case fault.KindUnauthenticated:
		return fault.Unauthenticated("GitHub no longer accepts this sign-in").
			Fix("sign in again").Because(v.cause)
	case fault.KindLimited:
		return fault.Limited("GitHub's request limit for your account is used up").
			Because(v.cause).After(wait)
	case fault.KindUnavailable:
		return fault.Unavailable("GitHub cannot be asked just now what you may read").
			Because(v.cause).After(wait)
	case fault.KindDenied:
		return v.denied()
	}
	return fmt.Errorf("ask GitHub for access: %w", v.cause)
}

func (v *verdict) denied() error {
	f := fault.Denied("your GitHub account can read none of the repositories behind this address")
	if e, ok := github.AsError(v.cause); ok {
		f = fault.Denied("GitHub does not say what your account may read: %s", fault.Quote(e.Message)).Because(v.cause)
	}
	switch {
	case v.sso != "":
		return f.Fix("open %s to sign in to the organisation, then try again", v.sso)
	case v.ssoNeeded:
		return f.Fix("sign in to the organisation's single sign-on at GitHub, then sign in here again")
	}
	return f.Fix("ask an owner of the repositories to give your account access, then try again")
}
