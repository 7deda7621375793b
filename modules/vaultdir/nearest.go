package vaultdir

import (
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
	"golang.org/x/text/unicode/norm"
)

// nearestLimit bounds the names that are compared, in bytes: the work grows
// with the product of their lengths.
const nearestLimit = 256

// Nearest gives the known name that name was most likely meant to be: the one
// with the smallest edit distance when case, hyphens and underscores do not
// count, the first of several. It gives none when even the best differs in more
// than about a third of its characters.
func Nearest(name string, known []string) (string, bool) {
	if len(name) > nearestLimit {
		return "", false
	}
	folded := foldName(name)
	best, bestDistance := "", -1
	for _, candidate := range known {
		if len(candidate) > nearestLimit {
			continue
		}
		d := levenshtein.ComputeDistance(folded, foldName(candidate))
		if d <= tolerance(folded, candidate) && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = candidate, d
		}
	}
	return best, bestDistance >= 0
}

// tolerance is how many edits two names may differ by and still be near: one
// for short names, a third of the longer one's characters up to four.
func tolerance(a, b string) int {
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return max(1, min(longer/3, 4))
}

func foldName(s string) string {
	s = strings.ToLower(norm.NFC.String(s))
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(s)
}
