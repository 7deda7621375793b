package index

import (
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"vault/modules/notes"
)

// nearLimit is how many near paths are named.
const nearLimit = 5

// nearest keeps the paths that a missing one was most likely meant to be.
type nearest struct {
	wanted string // folded
	bytes  [256]int16
	limit  int // the greatest distance still of interest
	bare   bool
	found  []near
}

type near struct {
	path     string
	distance int
}

// newNearest looks for paths near one that is missing. Paths that differ in
// more than a third of their characters are not near.
func newNearest(missing string) *nearest {
	n := &nearest{wanted: notes.Fold(cut(missing, pathLimit)), bare: path.Ext(missing) == ""}
	n.limit = max(2, len(n.wanted)/3)
	for i := range len(n.wanted) {
		n.bytes[n.wanted[i]]++
	}
	return n
}

// add considers one path.
func (n *nearest) add(candidate string) {
	folded := notes.Fold(candidate)
	if n.bare {
		folded = strings.TrimSuffix(strings.TrimSuffix(folded, ".md"), ".markdown")
	}
	if n.apart(folded) {
		return
	}
	d := levenshtein.ComputeDistance(n.wanted, folded)
	if d > n.limit {
		return
	}
	at, _ := slices.BinarySearchFunc(n.found, d, func(e near, d int) int {
		if e.distance <= d {
			return -1
		}
		return 1
	})
	n.found = slices.Insert(n.found, at, near{path: candidate, distance: d})
	if len(n.found) > nearLimit {
		n.found = n.found[:nearLimit]
		// Only a better one can still come in: paths of the same distance
		// stay in path order.
		n.limit = n.found[nearLimit-1].distance - 1
	}
}

// apart tells cheaply that a path is too far away. Every character that one
// side has more of than the other costs an edit, of at most four bytes.
func (n *nearest) apart(folded string) bool {
	if len(folded)-len(n.wanted) > 4*n.limit || len(n.wanted)-len(folded) > 4*n.limit {
		return true
	}
	counts := n.bytes
	for i := range len(folded) {
		counts[folded[i]]--
	}
	more, less := 0, 0
	for _, c := range counts {
		if c > 0 {
			more += int(c)
		} else {
			less -= int(c)
		}
	}
	return max(more, less) > 4*n.limit
}

// paths gives those found after the ones that come first anyway.
func (n *nearest) paths(first []string) []string {
	out := first[:min(len(first), nearLimit)]
	for _, e := range n.found {
		if len(out) < nearLimit && !slices.Contains(out, e.path) {
			out = append(out, e.path)
		}
	}
	return out
}
