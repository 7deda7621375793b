package auth

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"vault/platform/fault"
	"vault/platform/github"
)

// kindAccess is the kind of sealed access tokens.
const kindAccess = "a"

// Bounds of what an access token holds, in bytes.
const (
	maxToken    = 4 << 10
	maxClientID = 512
	maxLogin    = 100
)

// errNotValid is the inner cause of every access token that does not open.
var errNotValid = errors.New("the access token does not open")

// AccessToken is what a sealed access token holds.
type AccessToken struct {
	// GitHub is the person's GitHub token.
	GitHub github.Secret
	// Installation is the installation behind the address that the token was
	// given out for.
	Installation int64
	// ClientID is the assistant it was given to, at most 512 bytes.
	ClientID string
	// Login is the person's account name at sign-in, or "": a hint for logs,
	// never a right.
	Login string
	// IssuedAt and Expires are in whole seconds.
	IssuedAt time.Time
	Expires  time.Time
}

// Sealer closes and opens access tokens of one service. It is safe for use by
// many goroutines.
type Sealer struct {
	access *box
	clock  func() time.Time
}

// NewSealer makes the sealer of a service. issuer is the service's own
// address, without a path or a final slash; a token of another issuer does
// not open. clock may be nil.
func NewSealer(ring *Ring, issuer string, clock func() time.Time) (*Sealer, error) {
	if issuer == "" || strings.HasSuffix(issuer, "/") {
		return nil, fmt.Errorf("the issuer %q must be an address without a final slash", issuer)
	}
	if clock == nil {
		clock = time.Now
	}
	access, err := newBox(ring, kindAccess, issuer)
	if err != nil {
		return nil, err
	}
	return &Sealer{access: access, clock: clock}, nil
}

// SealAccess closes an access token. It fails on a token that could not be
// opened again, and when every key of the ring is too old.
func (s *Sealer) SealAccess(t AccessToken) (string, error) {
	now := s.clock()
	switch {
	case t.GitHub == "" || len(t.GitHub) > maxToken:
		return "", fmt.Errorf("seal access token: a GitHub token of %d bytes", len(t.GitHub))
	case len(t.ClientID) > maxClientID || len(t.Login) > maxLogin:
		return "", errors.New("seal access token: client id or login too long")
	case t.Installation <= 0:
		return "", errors.New("seal access token: no installation")
	case !t.Expires.After(now):
		return "", errors.New("seal access token: it has ended already")
	}
	sealed, err := s.access.seal(t.encode(), now)
	if err != nil {
		return "", fmt.Errorf("seal access token: %w", err)
	}
	return sealed, nil
}

// OpenAccess opens what the caller of one installation's address sent. Every
// failure is the same fault of kind unauthenticated: not one of ours, closed
// for another address, installation or use, changed, or ended.
func (s *Sealer) OpenAccess(sealed string, installation int64) (AccessToken, error) {
	plain, ok := s.access.open(sealed)
	if !ok {
		return AccessToken{}, notValid()
	}
	t, ok := decodeAccess(plain)
	if !ok || t.Installation != installation || !t.Expires.After(s.clock()) {
		return AccessToken{}, notValid()
	}
	return t, nil
}

func notValid() error {
	return fault.Unauthenticated("this access token is not valid here").
		Fix("sign in again").
		Because(errNotValid)
}
