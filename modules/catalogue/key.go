package catalogue

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"

	"vault/modules/vaultdir"
)

// Repository is one readable repository as a view sees it.
type Repository struct {
	ID   int64
	Name string
	// Rev is the revision of its `.vault/` that is in force.
	Rev vaultdir.Rev
}

// SetHash identifies a set of readable repositories by their ids, in any
// order.
func SetHash(ids []int64) [sha256.Size]byte {
	sorted := slices.Sorted(slices.Values(ids))
	buf := make([]byte, 0, 8*len(sorted))
	for _, id := range sorted {
		buf = binary.BigEndian.AppendUint64(buf, uint64(id))
	}
	return sha256.Sum256(buf)
}

// Rev is the revision of a set: it changes with a name, a `.vault/` or the
// members.
func Rev(repos []Repository) string {
	sorted := slices.SortedFunc(slices.Values(repos), func(a, b Repository) int {
		return strings.Compare(a.Name, b.Name)
	})
	h := sha256.New()
	for _, r := range sorted {
		var id [8]byte
		binary.BigEndian.PutUint64(id[:], uint64(r.ID))
		h.Write(id[:])
		for _, part := range []string{r.Name, string(r.Rev)} {
			h.Write([]byte(part))
			h.Write([]byte{0})
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}
