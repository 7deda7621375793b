package localhub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"vault/platform/git"
)

const (
	// maxPushCommits and maxPushFiles are GitHub's limits for a push event.
	maxPushCommits = 2048
	maxPushFiles   = 3000
)

// refMove is one ref that came, moved or went.
type refMove struct {
	ref           string
	before, after git.OID
}

// movesBetween lists what differs, deletions last: a branch that takes
// another's place is told of before the other is gone.
func movesBetween(old, now map[string]git.OID) []refMove {
	var moves []refMove
	for ref, after := range now {
		before, ok := old[ref]
		if !ok {
			before = git.Zero
		}
		if before != after {
			moves = append(moves, refMove{ref, before, after})
		}
	}
	for ref, before := range old {
		if _, ok := now[ref]; !ok {
			moves = append(moves, refMove{ref, before, git.Zero})
		}
	}
	slices.SortFunc(moves, func(a, b refMove) int {
		if a.after.IsZero() != b.after.IsZero() {
			if a.after.IsZero() {
				return 1
			}
			return -1
		}
		return strings.Compare(a.ref, b.ref)
	})
	return moves
}

// tellPushes sends a push event for each ref that moved since the last time.
// The caller holds the repository's moving lock.
func (h *Hub) tellPushes(ctx context.Context, r *repository, pusher personState) error {
	now, err := r.git.Refs(ctx, "refs/")
	if err != nil {
		return err
	}
	moves := movesBetween(r.known, now)
	if len(moves) == 0 {
		return nil
	}
	first := len(r.known) == 0
	r.known = now
	if err := h.noteMoves(ctx, r, now, first); err != nil {
		return err
	}
	var errs []error
	for _, m := range moves {
		if strings.HasPrefix(m.ref, "refs/heads/") || strings.HasPrefix(m.ref, "refs/tags/") {
			errs = append(errs, h.tellPush(ctx, r, m, pusher))
		}
	}
	return errors.Join(errs...)
}

// noteMoves records the time of a push and, for the first push into an empty
// repository, the branch that becomes its default.
func (h *Hub) noteMoves(ctx context.Context, r *repository, refs map[string]git.OID, first bool) error {
	h.mu.RLock()
	branch := r.state.Branch
	h.mu.RUnlock()
	if _, there := refs["refs/heads/"+branch]; first && !there && r.folder == nil {
		if pushed, ok := firstBranch(refs); ok {
			if err := r.git.SetHead(ctx, pushed); err != nil {
				return err
			}
			branch = pushed
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	r.state.Branch, r.state.Pushed, r.state.Updated = branch, h.now().UTC(), h.now().UTC()
	return h.state.save()
}

// firstBranch picks the default branch of what was pushed first.
func firstBranch(refs map[string]git.OID) (string, bool) {
	var names []string
	for ref := range refs {
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok {
			names = append(names, name)
		}
	}
	for _, usual := range []string{"main", "master"} {
		if slices.Contains(names, usual) {
			return usual, true
		}
	}
	if len(names) == 0 {
		return "", false
	}
	return slices.Min(names), true
}

func (h *Hub) tellPush(ctx context.Context, r *repository, m refMove, pusher personState) error {
	if h.config.WebhookURL == "" {
		return nil
	}
	forced, commits, err := h.pushedCommits(ctx, r, m)
	if err != nil {
		return fmt.Errorf("describe the push to %s: %w", m.ref, err)
	}
	var head any
	if len(commits) > 0 {
		head = commits[len(commits)-1]
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	v := h.view(everything(), r)
	repo := h.repositoryShape(v)
	owner, _ := repo["owner"].(object)
	owner["name"], owner["email"] = h.config.Account, nil
	repo["created_at"], repo["pushed_at"] = v.Created.Unix(), v.Pushed.Unix()
	repo["stargazers"], repo["master_branch"], repo["organization"] = 0, v.Branch, h.config.Account
	return h.hooks.send("push", "", r.id, object{
		"ref": m.ref, "before": m.before, "after": m.after,
		"created": m.before.IsZero(), "deleted": m.after.IsZero(), "forced": forced, "base_ref": nil,
		"compare":    h.api("/%s/compare/%s...%s", v.fullName, shortID(m.before), shortID(m.after)),
		"commits":    commits,
		"repository": repo, "organization": h.organizationShape(), "head_commit": head,
		"pusher": object{"name": pusher.Login, "email": pusher.Email},
		"sender": h.userShape(pusher), "installation": h.installationRef(),
	})
}

func shortID(oid git.OID) string { return string(oid[:12]) }

// pushedCommits lists what a push brought to its branch, oldest first, and
// whether it left commits behind.
func (h *Hub) pushedCommits(ctx context.Context, r *repository, m refMove) (forced bool, commits []object, err error) {
	commits = []object{}
	if m.after.IsZero() || !strings.HasPrefix(m.ref, "refs/heads/") {
		return false, commits, nil
	}
	not := []git.OID{m.before}
	if m.before.IsZero() {
		not = nil
		for ref, at := range r.known {
			if ref != m.ref && strings.HasPrefix(ref, "refs/heads/") {
				not = append(not, at)
			}
		}
	} else if forced, err = leavesBehind(ctx, r.git, m); err != nil {
		return false, nil, err
	}
	var list []git.Commit
	err = r.git.Log(ctx, git.LogOptions{Tip: m.after, Not: not, Max: maxPushCommits}, func(c git.Commit) error {
		list = append(list, c)
		return nil
	})
	if err != nil {
		return false, nil, err
	}
	slices.Reverse(list)
	files, err := filesOf(ctx, r.git, list)
	if err != nil {
		return false, nil, err
	}
	for i, c := range list {
		commits = append(commits, h.pushCommitShape(r, c, files[i]))
	}
	return forced, commits, nil
}

// leavesBehind reports a push that is no fast-forward. A commit whose history
// is not here (a shallow folder that was cut anew) counts as one.
func leavesBehind(ctx context.Context, repo *git.Repo, m refMove) (bool, error) {
	ancestor, err := repo.IsAncestor(ctx, m.before, m.after)
	if errors.Is(err, git.ErrNotFound) {
		return true, nil
	}
	return err == nil && !ancestor, err
}
