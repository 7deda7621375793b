package tools

import (
	"fmt"
	"strings"

	"vault/modules/index"
	"vault/modules/notes"
	"vault/platform/fault"
)

// findHeading finds a heading by its text, first exactly, then ignoring case.
// "Parent > Child" picks one of several.
func findHeading(all []index.Heading, wanted string) (int, error) {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		func(a, b string) bool { return notes.Fold(a) == notes.Fold(b) },
	} {
		found := matchHeadings(all, wanted, same)
		if len(found) == 1 {
			return found[0], nil
		}
		if len(found) > 1 {
			return 0, ambiguous(all, wanted, found)
		}
	}
	f := fault.NotFound("the note has no heading %s", fault.Quote(wanted)).On("heading")
	if names := headingNames(all); len(names) > 0 {
		f.Fix("its headings are %s", fault.QuoteList(names))
	}
	return 0, f
}

// matchHeadings gives the headings with a text, or failing that those that a
// chain "Parent > Child" means.
func matchHeadings(all []index.Heading, wanted string, same func(a, b string) bool) []int {
	wanted = strings.TrimSpace(wanted)
	var found []int
	for i, h := range all {
		if same(h.Text, wanted) {
			found = append(found, i)
		}
	}
	if len(found) > 0 {
		return found
	}
	parents, child, chained := cutLast(wanted, ">")
	if !chained {
		return nil
	}
	for i, h := range all {
		if same(h.Text, strings.TrimSpace(child)) && standsBelow(all, i, parents, same) {
			found = append(found, i)
		}
	}
	return found
}

// standsBelow reports whether heading i stands below a chain of headings, the last
// of which is the nearest; levels between may be left out.
func standsBelow(all []index.Heading, i int, chain string, same func(a, b string) bool) bool {
	rest, want, more := cutLast(chain, ">")
	for p := parent(all, i); p >= 0; p = parent(all, p) {
		if same(all[p].Text, strings.TrimSpace(want)) {
			if !more {
				return true
			}
			return standsBelow(all, p, rest, same)
		}
	}
	return false
}

// parent gives the heading that i stands below, or -1.
func parent(all []index.Heading, i int) int {
	for p := i - 1; p >= 0; p-- {
		if all[p].Level < all[i].Level {
			return p
		}
	}
	return -1
}

// cutLast cuts s at the last sep; without one, all of s is after.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i+len(sep):], true
}

// listedHeadings is how many headings an error names.
const listedHeadings = 20

func ambiguous(all []index.Heading, wanted string, found []int) error {
	var places []string
	for _, i := range found[:min(len(found), listedHeadings)] {
		where := fmt.Sprintf("line %d", all[i].Line)
		if p := parent(all, i); p >= 0 {
			where += " under " + fault.Quote(all[p].Text)
		}
		places = append(places, where)
	}
	return fault.Invalid("%d headings are called %s: %s", len(found), fault.Quote(wanted), strings.Join(places, ", ")).
		Fix("name the one you mean as \"Parent > Child\", or read it by from_line").On("heading")
}

func headingNames(all []index.Heading) []string {
	var names []string
	for _, h := range all[:min(len(all), listedHeadings)] {
		names = append(names, h.Text)
	}
	return names
}
