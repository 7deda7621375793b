package git

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
)

// OID is an object id: 40 (sha1) or 64 (sha256) lower-case hexadecimal digits.
type OID string

// Zero is the id of no object: an unborn branch, an absent file.
const Zero OID = "0000000000000000000000000000000000000000"

// The ids of the tree without entries, which git knows without storing it.
const (
	emptyTree       OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
	emptyTreeSHA256 OID = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
)

// Valid reports whether the id has the form of one. Zero is valid.
func (o OID) Valid() bool {
	if len(o) != 40 && len(o) != 64 {
		return false
	}
	for _, c := range []byte(o) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// IsZero reports whether the id names no object: all zeros, of either length.
func (o OID) IsZero() bool {
	for _, c := range []byte(o) {
		if c != '0' {
			return false
		}
	}
	return len(o) == 40 || len(o) == 64
}

// BlobOID is the sha1 id that git gives a file with these bytes.
func BlobOID(data []byte) OID { return objectOID("blob", data) }

// objectOID hashes the header and the content as git's object format says:
// "<type> <length in decimal>\0<content>".
func objectOID(kind string, data []byte) OID {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return OID(hex.EncodeToString(h.Sum(nil)))
}

// check refuses what is no id, so that no argument of git can be anything
// else: a revision expression, an option, a path.
func check(oids ...OID) error {
	for _, o := range oids {
		if !o.Valid() {
			return fmt.Errorf("object id %.80q is malformed: %w", string(o), ErrRefused)
		}
	}
	return nil
}

// treeOr gives the empty tree in the place of Zero. Other must be an id of the
// same repository, which tells its hash.
func treeOr(o, other OID) OID {
	switch {
	case !o.IsZero():
		return o
	case len(other) == 64:
		return emptyTreeSHA256
	}
	return emptyTree
}
