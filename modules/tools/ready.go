package tools

import (
	"fmt"
	"strings"
	"time"

	"vault/modules/index"
	"vault/modules/tool"
	"vault/platform/fault"
	"vault/platform/git"
)

// ready reports a repository that cannot answer yet or at all.
func ready(r index.Repo) error {
	if !r.Complete {
		return fault.Unavailable("the repository %s is being indexed%s", fault.Quote(r.Name), progress(r)).After(wait(r))
	}
	if reason, closed := r.Dir.Closed(); closed {
		return fault.Denied("nothing of the repository %s is open: %s", fault.Quote(r.Name), reason).
			Fix("ask an admin of the repository to mend its .vault/settings.jsonc")
	}
	return nil
}

func progress(r index.Repo) string {
	if r.Total == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of %d notes so far", r.Done, r.Total)
}

// The bounds of what a caller is told to wait.
const (
	shortestWait = 2 * time.Second
	longestWait  = 2 * time.Minute
)

// wait guesses how long the rest of a build takes from how long the part that
// is done took.
func wait(r index.Repo) time.Duration {
	if r.Done == 0 || r.Started.IsZero() {
		return 2 * shortestWait
	}
	left := time.Since(r.Started) * time.Duration(r.Total-r.Done) / time.Duration(r.Done)
	return min(max(left, shortestWait), longestWait)
}

// others says which readable repositories an answer across all of them left
// out, and why.
func others(call *tool.Call) []string {
	var hints []string
	for _, r := range call.Index.Repos() {
		if err := ready(r); err != nil {
			hints = append(hints, strings.TrimSuffix(fault.Public(err, ""), "."))
		}
	}
	return hints
}

// hints collects sentences for an answer's `note`.
type hints []string

func (h *hints) add(format string, args ...any) { *h = append(*h, fmt.Sprintf(format, args...)) }

// text joins the sentences; "" when there is none.
func (h hints) text() string {
	if len(h) == 0 {
		return ""
	}
	return strings.Join(h, ". ") + "."
}

// next says how to go on after a page.
func (h *hints) next(hasMore bool, offset int) {
	if hasMore {
		h.add("More follow: go on with offset %d", offset)
	}
}

// meta is the _meta of an answer about one place.
func meta(r *index.Repo, path string) map[string]any {
	if r == nil {
		return nil
	}
	m := map[string]any{}
	if r.Head != git.Zero {
		m["vault/head"] = string(r.Head)
	}
	if r.WebURL != "" {
		m["vault/url"] = webURL(*r, path)
	}
	return m
}

// webURL is the page of a file or folder on GitHub, at the commit that was
// read, so that the link shows what the answer says.
func webURL(r index.Repo, path string) string {
	if path == "" || r.Head == git.Zero {
		return r.WebURL
	}
	var b strings.Builder
	for _, part := range strings.Split(path, "/") {
		b.WriteByte('/')
		b.WriteString(escapePart(part))
	}
	return r.WebURL + "/blob/" + string(r.Head) + b.String()
}
