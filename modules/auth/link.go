package auth

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	"vault/platform/github"
)

// LinkHeader carries the instance key from the front to an instance.
const LinkHeader = "Vault-Link"

// Link is the instance's side of the private link: it knows the keys a front
// may show.
type Link struct {
	digests [][sha256.Size]byte
}

// NewLink makes the check for the given instance keys; several are accepted
// at once while keys are being exchanged.
func NewLink(keys ...github.Secret) (*Link, error) {
	l := &Link{}
	for _, k := range keys {
		if len(k) < minMaster {
			return nil, errors.New("an instance key is too short")
		}
		l.digests = append(l.digests, sha256.Sum256([]byte(k.Reveal())))
	}
	if len(l.digests) == 0 {
		return nil, errors.New("the link to the front has no key")
	}
	return l, nil
}

// Check tells whether a request came from a front that holds the ring. Its
// time tells nothing about the keys.
func (l *Link) Check(presented string) bool {
	got := sha256.Sum256([]byte(presented))
	match := 0
	for i := range l.digests {
		match |= subtle.ConstantTimeCompare(got[:], l.digests[i][:])
	}
	return match == 1
}
