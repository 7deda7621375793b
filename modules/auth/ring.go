package auth

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"vault/platform/github"
)

// Bounds of a key ring.
const (
	maxRing   = 64 << 10
	maxKeys   = 32
	minMaster = 32
	maxMaster = 1 << 10
)

var kidPattern = regexp.MustCompile(`^[a-z0-9]{1,16}$`)

// Key is one master key of the ring. Nothing is closed with it directly: each
// use has a key derived for it.
type Key struct {
	// ID stands in what the key closed: 1 to 16 lower-case letters and digits.
	ID string
	// NotAfterSeal is when the key stops closing new values; it opens old ones
	// as long as it is in the ring. Zero means never.
	NotAfterSeal time.Time

	// master is behind a pointer, since package fmt prints the insides of
	// unexported fields without asking them, but does not follow pointers.
	master *master
}

type master struct{ bytes []byte }

// String shows the key's id and hides the key.
func (k Key) String() string { return "key " + k.ID }

// Format hides the key from every verb of package fmt.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.String())) }

// Ring holds the master keys, the newest first. It never changes.
type Ring struct {
	keys []Key
}

// NewKey makes a key with a random master.
func NewKey(id string) (Key, error) {
	random := make([]byte, minMaster)
	if _, err := rand.Read(random); err != nil {
		return Key{}, fmt.Errorf("make key: %w", err)
	}
	k := Key{ID: id, master: &master{random}}
	return k, k.check()
}

// NewRing makes a ring. The newest key is the one that may close values for
// the longest, of equals the last; it is the one that closes. All of them
// open.
func NewRing(keys ...Key) (*Ring, error) {
	if len(keys) == 0 || len(keys) > maxKeys {
		return nil, fmt.Errorf("a key ring has 1 to %d keys, not %d", maxKeys, len(keys))
	}
	seen := make(map[string]bool, len(keys))
	for n, k := range keys {
		if err := k.check(); err != nil {
			return nil, fmt.Errorf("key %d: %w", n+1, err)
		}
		if seen[k.ID] {
			return nil, fmt.Errorf("key %d: its kid %s is there already", n+1, k.ID)
		}
		seen[k.ID] = true
	}
	sorted := slices.Clone(keys)
	slices.Reverse(sorted)
	slices.SortStableFunc(sorted, func(a, b Key) int { return b.last().Compare(a.last()) })
	return &Ring{keys: sorted}, nil
}

func (k Key) check() error {
	switch {
	case !kidPattern.MatchString(k.ID):
		return errors.New("its kid must be 1 to 16 lower-case letters and digits")
	case k.master == nil || len(k.master.bytes) < minMaster || len(k.master.bytes) > maxMaster:
		return fmt.Errorf("its master must have %d to %d bytes", minMaster, maxMaster)
	}
	return nil
}

// last is the end of the key's time to close values.
func (k Key) last() time.Time {
	if k.NotAfterSeal.IsZero() {
		return time.Unix(1<<60, 0)
	}
	return k.NotAfterSeal
}

// ParseRing reads a ring from YAML or JSON: a list of
//
//	kid: k1
//	master: base64 of 32 bytes or more, for example from `openssl rand -base64 32`
//	not_after_seal: 2027-01-31 (or with a time; may be left out)
//
// No error quotes the text, since it is full of secrets.
func ParseRing(text []byte) (*Ring, error) {
	if len(text) > maxRing {
		return nil, fmt.Errorf("the key ring has more than %d bytes", maxRing)
	}
	var entries []struct {
		KID          string `yaml:"kid"`
		Master       string `yaml:"master"`
		NotAfterSeal string `yaml:"not_after_seal"`
	}
	if err := yaml.Load(text, &entries, yaml.WithKnownFields()); err != nil {
		return nil, errors.New("the key ring is not a YAML or JSON list of keys with the fields kid, master and not_after_seal")
	}
	keys := make([]Key, 0, len(entries))
	for n, e := range entries {
		k := Key{ID: e.KID}
		var err error
		if k.master, err = decodeMaster(e.Master); err != nil {
			return nil, fmt.Errorf("key %d: %w", n+1, err)
		}
		if k.NotAfterSeal, err = parseDay(e.NotAfterSeal); err != nil {
			return nil, fmt.Errorf("key %d: %w", n+1, err)
		}
		keys = append(keys, k)
	}
	return NewRing(keys...)
}

// decodeMaster takes both alphabets of base64, padded or not.
func decodeMaster(text string) (*master, error) {
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	decoded, err := base64.RawStdEncoding.DecodeString(plain)
	if err != nil {
		return nil, errors.New("its master is not base64")
	}
	return &master{decoded}, nil
}

func parseDay(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("its not_after_seal must be a day like 2027-01-31 or a time like 2027-01-31T08:00:00Z")
}

// DeriveInstanceKey gives the key that front and instance share for one
// installation, from the newest key of the ring. An instance is given this
// key and never the ring.
func (r *Ring) DeriveInstanceKey(installation int64) (github.Secret, error) {
	return r.keys[0].instanceKey(installation)
}

// DeriveInstanceKeys gives that key for every key of the ring, the newest
// first: what an instance accepts while a ring is being exchanged.
func (r *Ring) DeriveInstanceKeys(installation int64) ([]github.Secret, error) {
	out := make([]github.Secret, 0, len(r.keys))
	for _, k := range r.keys {
		secret, err := k.instanceKey(installation)
		if err != nil {
			return nil, err
		}
		out = append(out, secret)
	}
	return out, nil
}

func (k Key) instanceKey(installation int64) (github.Secret, error) {
	raw, err := k.derive("vault-link/1/" + strconv.FormatInt(installation, 10))
	if err != nil {
		return "", err
	}
	return github.Secret(base64.RawURLEncoding.EncodeToString(raw)), nil
}

// derive makes the 32-byte key for one use.
func (k Key) derive(info string) ([]byte, error) {
	key, err := hkdf.Key(sha256.New, k.master.bytes, nil, info, 32)
	if err != nil {
		return nil, fmt.Errorf("derive from key %s: %w", k.ID, err)
	}
	return key, nil
}
