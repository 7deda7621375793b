package localhub

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"vault/platform/git"
)

const (
	// maxCompareFiles and maxCompareCommits are GitHub's limits for one
	// comparison without paging.
	maxCompareFiles   = 300
	maxCompareCommits = 250
)

// comparison is how one commit stands to another.
type comparison struct {
	base, head, fork git.OID
	ahead            []git.OID // oldest first
	behind           int
}

func (c comparison) status() string {
	switch {
	case c.base == c.head:
		return "identical"
	case c.fork == c.base:
		return "ahead"
	case c.fork == c.head:
		return "behind"
	}
	return "diverged"
}

// compare answers how head stands to base, from their merge base on.
func (h *Hub) compare(x *exchange, v repoView) (any, error) {
	ctx := x.r.Context()
	basehead := x.r.PathValue("basehead")
	base, head, ok := strings.Cut(basehead, "...")
	if !ok {
		return nil, errNotFound()
	}
	c, err := h.comparison(ctx, v, base, head)
	if err != nil {
		return nil, h.missing(x, v, err)
	}
	commits, err := h.comparedCommits(x, v, c)
	if err != nil {
		return nil, err
	}
	edges, err := h.fullShapes(ctx, v, []git.OID{c.base, c.fork})
	if err != nil {
		return nil, err
	}
	o := object{
		"url":           h.api("/repos/%s/compare/%s", v.fullName, escapePath(basehead)),
		"html_url":      h.api("/%s/compare/%s", v.fullName, escapePath(basehead)),
		"permalink_url": h.api("/%s/compare/%s:%s...%s:%s", v.fullName, h.config.Account, c.base[:7], h.config.Account, c.head[:7]),
		"diff_url":      h.api("/%s/compare/%s.diff", v.fullName, escapePath(basehead)),
		"patch_url":     h.api("/%s/compare/%s.patch", v.fullName, escapePath(basehead)),
		"base_commit":   edges[0], "merge_base_commit": edges[1],
		"status": c.status(), "ahead_by": len(c.ahead), "behind_by": c.behind, "total_commits": len(c.ahead),
		"commits": commits,
	}
	if pageOf(x.r, maxCompareCommits).number == 1 {
		files, _, err := v.git.Stat(ctx, c.fork, c.head, maxCompareFiles)
		if err != nil {
			return nil, err
		}
		o["files"] = h.fileShapes(v, c.head, files)
	}
	return o, nil
}

func (h *Hub) comparison(ctx context.Context, v repoView, base, head string) (c comparison, err error) {
	if c.base, err = h.comparedCommit(ctx, v, base); err != nil {
		return c, err
	}
	if c.head, err = h.comparedCommit(ctx, v, head); err != nil {
		return c, err
	}
	c.fork = c.base
	if c.base == c.head {
		return c, nil
	}
	c.fork, err = v.git.MergeBase(ctx, c.base, c.head)
	if errors.Is(err, git.ErrNotFound) {
		return c, &restError{Status: http.StatusNotFound, Message: fmt.Sprintf("No common ancestor between %s and %s.", base, head)}
	}
	if err != nil {
		return c, err
	}
	err = v.git.Log(ctx, git.LogOptions{Tip: c.head, Not: []git.OID{c.base}}, func(commit git.Commit) error {
		c.ahead = append(c.ahead, commit.OID)
		return nil
	})
	if err != nil || c.fork == c.base {
		slices.Reverse(c.ahead)
		return c, err
	}
	slices.Reverse(c.ahead)
	err = v.git.Log(ctx, git.LogOptions{Tip: c.base, Not: []git.OID{c.head}}, func(git.Commit) error {
		c.behind++
		return nil
	})
	return c, err
}

// comparedCommit resolves one side; it may name the account, as in
// "account:branch".
func (h *Hub) comparedCommit(ctx context.Context, v repoView, name string) (git.OID, error) {
	if owner, branch, ok := strings.Cut(name, ":"); ok {
		if !strings.EqualFold(owner, h.config.Account) {
			return "", errNoObject
		}
		name = branch
	}
	return v.commit(ctx, name)
}

// comparedCommits lists a page of the commits: without paging the first 250.
func (h *Hub) comparedCommits(x *exchange, v repoView, c comparison) ([]object, error) {
	query := x.r.URL.Query()
	p := page{number: 1, size: maxCompareCommits}
	if query.Has("page") || query.Has("per_page") {
		p = pageOf(x.r, 30)
		h.link(x, p, len(c.ahead))
	}
	from, to := p.bounds(len(c.ahead))
	return h.fullShapes(x.r.Context(), v, c.ahead[from:to])
}

func (h *Hub) fullShapes(ctx context.Context, v repoView, oids []git.OID) ([]object, error) {
	out := make([]object, len(oids))
	for i, oid := range oids {
		c, err := v.readCommit(ctx, oid)
		if err != nil {
			return nil, err
		}
		out[i] = h.commitShape(v, c)
	}
	return out, nil
}
