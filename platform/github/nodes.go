package github

import (
	"slices"

	"github.com/shurcooL/githubv4"
)

// nodesLimit is the most ids GitHub takes in one nodes field; one more is
// refused with ARGUMENT_LIMIT.
const nodesLimit = 100

// notReadable tells whether an entry of "errors" is GitHub's plain "not for
// you" about one of the things asked for. Only these make a null mean "not
// readable": a null beside a time-out or a resource limit means nothing.
func notReadable(e apiError) bool {
	if e.Type != "NOT_FOUND" && e.Type != "FORBIDDEN" {
		return false
	}
	field, _ := e.at()
	return field != "" && field != "viewer" && field != "rateLimit"
}

// idList makes the variable of a nodes field, whose type githubv4 reads off
// the Go type.
func idList(ids []string) []githubv4.ID {
	out := make([]githubv4.ID, len(ids))
	for i, id := range ids {
		out[i] = githubv4.ID(id)
	}
	return out
}

// blockedBySSO lists the positions of one nodes field that single sign-on
// hides.
func blockedBySSO(errs []apiError, alias string) []int {
	var out []int
	for _, e := range errs {
		field, position := e.at()
		if field == alias && position >= 0 && e.Extensions.SAMLFailure && !slices.Contains(out, position) {
			out = append(out, position)
		}
	}
	return out
}
