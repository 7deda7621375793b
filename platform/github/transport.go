package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// The failures of the transport itself.
var (
	// ErrTooLarge says that an answer was bigger than the call allows.
	ErrTooLarge = errors.New("the answer is larger than allowed")
	// errForeign guards credentials: a request that would carry one
	// elsewhere is not sent.
	errForeign = errors.New("the address is outside the configured GitHub")
	// errBadCredential says that a credential cannot be a header value, so
	// that no GitHub can have given it out.
	errBadCredential = errors.New("the credential has characters no token has")
)

// maxRepeats is how often a read is tried again after a passing failure.
const maxRepeats = 2

// maxRedirects is how often one request may be sent on, which happens once
// per rename of a repository.
const maxRedirects = 5

// transport is the one RoundTripper of the package.
type transport struct {
	cfg Config
	// credential makes the value of the Authorization header.
	credential func() (string, error)
}

// RoundTrip sends one request with the credential and the headers GitHub
// asks for, and records the answer in the exchange of the request's context.
// The answer's body is handed on unchanged, even when it tells of errors:
// GraphQL answers with data and errors at once.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	x := exchangeOf(req.Context())
	if x == nil {
		return nil, errors.New("a request to GitHub without a record")
	}
	out, err := t.dress(req)
	if err != nil {
		x.begin()
		x.failure = err
		return nil, err
	}
	for repeat := 0; ; repeat++ {
		resp, err := t.attempt(out, x)
		pause, again := repeatAfter(x, repeat)
		if !again {
			return resp, err
		}
		if !sleep(req.Context(), pause) {
			return abandon(req.Context(), x, resp, err)
		}
		if out.GetBody != nil {
			if out.Body, err = out.GetBody(); err != nil {
				return nil, fmt.Errorf("rewind request: %w", err)
			}
		}
	}
}

// dress gives a copy of the request with everything GitHub wants to see.
func (t *transport) dress(req *http.Request) (*http.Request, error) {
	if !t.cfg.owns(req.URL) {
		return nil, errForeign
	}
	credential, err := t.credential()
	if err != nil {
		return nil, err
	}
	if !sendable(credential) {
		return nil, errBadCredential
	}
	out := req.Clone(req.Context())
	out.Header.Set("Authorization", "Bearer "+credential)
	out.Header.Set("User-Agent", t.cfg.UserAgent)
	if out.Header.Get("Accept") == "" {
		out.Header.Set("Accept", "application/vnd.github+json")
	}
	return out, nil
}

// attempt sends the request once and reads the whole answer.
func (t *transport) attempt(req *http.Request, x *exchange) (*http.Response, error) {
	x.begin()
	resp, err := t.cfg.Transport.RoundTrip(req)
	if err != nil {
		x.failure = err
		return nil, err
	}
	body, err := readBounded(resp.Body, x.maxBytes())
	if err != nil {
		x.failure = err
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	x.record(resp, body, req.URL.String() == t.cfg.GraphQL)
	return resp, nil
}

func readBounded(body io.ReadCloser, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if closeErr := body.Close(); err == nil && closeErr != nil {
		err = closeErr
	}
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}

// repeatAfter tells whether the exchange should be tried again, and after
// what pause. Refusals are final: repeating a 401 locks accounts, repeating a
// 403 gets an App banned.
func repeatAfter(x *exchange, repeat int) (time.Duration, bool) {
	if !x.read || repeat >= maxRepeats || !passing(x) {
		return 0, false
	}
	base := 100 * time.Millisecond << (2 * repeat)
	pause := base/2 + rand.N(base)
	if wait := retryAfterHeader(x.header); wait > pause {
		return 0, false
	}
	return pause, true
}

// passing tells failures that a moment may mend from those it will not.
func passing(x *exchange) bool {
	if x.failure != nil {
		return !errors.Is(x.failure, context.Canceled) &&
			!errors.Is(x.failure, context.DeadlineExceeded) &&
			!errors.Is(x.failure, ErrTooLarge)
	}
	switch x.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// abandon ends the repeating when the context did: a caller that left is told
// so, and a clock that ran out leaves the failure it interrupted.
func abandon(ctx context.Context, x *exchange, resp *http.Response, err error) (*http.Response, error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		x.failure = ctx.Err()
		return nil, ctx.Err()
	}
	return resp, err
}

// sleep waits and tells whether the context lives on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sameHost is the redirect rule: a renamed repository moves within its host;
// anything else is not ours to follow.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Scheme != first.Scheme || req.URL.Host != first.Host {
		return errForeign
	}
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	return nil
}
