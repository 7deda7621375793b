package auth

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
)

// MaxSealed is the most bytes of any sealed value.
const MaxSealed = 8 << 10

// box closes and opens the values of one kind and version:
//
//	<kind><version>.<kid>.<base64url(nonce, ciphertext, tag)>
//
// Every kind has keys of its own, and the associated data binds kind,
// version, key and issuer, so that a value of one kind, of one service or of
// one environment never opens as another. XChaCha20-Poly1305 has nonces long
// enough to be drawn at random for ever.
type box struct {
	prefix string
	newest boxKey
	keys   map[string]boxKey
}

type boxKey struct {
	kid  string
	aead cipher.AEAD
	// data is the associated data of every value closed with the key.
	data []byte
	last time.Time
}

func newBox(ring *Ring, kind, issuer string) (*box, error) {
	const version = "1"
	b := &box{prefix: kind + version + ".", keys: make(map[string]boxKey, len(ring.keys))}
	for _, k := range ring.keys {
		subkey, err := k.derive("vault-front/" + version + "/" + kind)
		if err != nil {
			return nil, err
		}
		aead, err := chacha20poly1305.NewX(subkey)
		if err != nil {
			return nil, fmt.Errorf("use key %s: %w", k.ID, err)
		}
		data := strings.Join([]string{kind, version, k.ID, issuer}, "|")
		b.keys[k.ID] = boxKey{kid: k.ID, aead: aead, data: []byte(data), last: k.last()}
	}
	b.newest = b.keys[ring.keys[0].ID]
	return b, nil
}

// seal closes a value with the newest key.
func (b *box) seal(plain []byte, now time.Time) (string, error) {
	k := b.newest
	if now.After(k.last) {
		return "", errors.New("every key of the ring is past its not_after_seal")
	}
	raw := make([]byte, chacha20poly1305.NonceSizeX, chacha20poly1305.NonceSizeX+len(plain)+chacha20poly1305.Overhead)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("draw nonce: %w", err)
	}
	raw = k.aead.Seal(raw, raw, plain, k.data)
	sealed := b.prefix + k.kid + "." + base64.RawURLEncoding.EncodeToString(raw)
	if len(sealed) > MaxSealed {
		return "", fmt.Errorf("the sealed value has %d bytes, more than %d", len(sealed), MaxSealed)
	}
	return sealed, nil
}

// open gives the value inside, or false and no reason. A value with an
// unknown key costs what one with a known key does.
func (b *box) open(sealed string) ([]byte, bool) {
	if len(sealed) > MaxSealed {
		return nil, false
	}
	rest, isKind := strings.CutPrefix(sealed, b.prefix)
	kid, text, whole := strings.Cut(rest, ".")
	k, known := b.keys[kid]
	if !known {
		k = b.newest
	}
	// Go's base64 skips line ends: a value with some would open in more than
	// one spelling.
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !isKind || !whole || err != nil || strings.ContainsAny(text, "\r\n") || len(raw) < chacha20poly1305.NonceSizeX {
		return nil, false
	}
	nonce, closed := raw[:chacha20poly1305.NonceSizeX], raw[chacha20poly1305.NonceSizeX:]
	plain, err := k.aead.Open(closed[:0], nonce, closed, k.data)
	return plain, err == nil && known
}
