package localhub

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"vault/platform/git"
)

// commitFull is a commit with what git.Commit leaves out.
type commitFull struct {
	git.Commit
	// message is the whole message as it was written.
	message string
	// signature is the cryptographic signature, payload what it signs; both
	// are "" for an unsigned commit.
	signature, payload string
}

// readCommit reads one commit in full.
func (v repoView) readCommit(ctx context.Context, oid git.OID) (commitFull, error) {
	c, err := v.git.Commit(ctx, oid)
	if err != nil {
		return commitFull{}, noObject(err)
	}
	return fullCommit(ctx, v.git, c)
}

func fullCommit(ctx context.Context, repo *git.Repo, c git.Commit) (commitFull, error) {
	o, err := repo.Object(ctx, c.OID, maxCommitObject)
	if err != nil {
		return commitFull{}, err
	}
	full := commitFull{Commit: c}
	headers, message, _ := strings.Cut(string(o.Data), "\n\n")
	full.message = strings.TrimRight(message, "\n")
	if !utf8.ValidString(message) {
		// The parsed commit is converted from the encoding that it states.
		full.message = strings.TrimRight(c.Subject+"\n\n"+c.Body, "\n")
	}
	var rest string
	if full.signature, rest = cutSignature(headers); full.signature != "" {
		full.payload = strings.ToValidUTF8(rest+"\n\n"+message, "\uFFFD")
	}
	return full, nil
}

// cutSignature takes the gpgsig header, whose further lines begin with a
// space, out of the headers.
func cutSignature(headers string) (signature, rest string) {
	var sig, kept []string
	inside := false
	for line := range strings.SplitSeq(headers, "\n") {
		value, isSig := strings.CutPrefix(line, "gpgsig ")
		inside = isSig || inside && strings.HasPrefix(line, " ")
		switch {
		case isSig:
			sig = append(sig, value)
		case inside:
			sig = append(sig, line[1:])
		default:
			kept = append(kept, line)
		}
	}
	return strings.Join(sig, "\n"), strings.Join(kept, "\n")
}

// headline and its rest are how GitHub shows a message: the first line, cut at
// 72 characters with what was cut going on in the body.
func (c commitFull) headline() (headline, body string) {
	first, rest, _ := strings.Cut(c.message, "\n")
	rest = strings.TrimLeft(rest, "\n")
	runes := []rune(first)
	if len(runes) <= 72 {
		return first, rest
	}
	headline, cut := string(runes[:71])+"…", "…"+string(runes[71:])
	if rest == "" {
		return headline, cut
	}
	return headline, cut + "\n\n" + rest
}

// commitShape is a commit as REST shows it.
func (h *Hub) commitShape(v repoView, c commitFull) object {
	o := h.gitCommitShape(v, c)
	self := h.api("/repos/%s/commits/%s", v.fullName, c.OID)
	parents := []object{}
	for _, p := range c.Parents {
		parents = append(parents, object{
			"sha": p, "url": h.api("/repos/%s/commits/%s", v.fullName, p), "html_url": h.api("/%s/commit/%s", v.fullName, p),
		})
	}
	inner := object{"comment_count": 0}
	for _, key := range []string{"author", "committer", "message", "tree", "url", "verification"} {
		inner[key] = o[key]
	}
	return object{
		"sha": c.OID, "node_id": o["node_id"], "commit": inner, "url": self,
		"html_url": o["html_url"], "comments_url": self + "/comments",
		"author": h.accountOf(c.Author), "committer": h.accountOf(c.Committer), "parents": parents,
	}
}

// gitCommitShape is a commit as the git database shows it.
func (h *Hub) gitCommitShape(v repoView, c commitFull) object {
	parents := []object{}
	for _, p := range c.Parents {
		parents = append(parents, object{
			"sha": p, "url": h.api("/repos/%s/git/commits/%s", v.fullName, p), "html_url": h.api("/%s/commit/%s", v.fullName, p),
		})
	}
	verification := object{"verified": false, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if c.signature != "" {
		verification["reason"], verification["signature"], verification["payload"] = "unknown_key", c.signature, c.payload
	}
	return object{
		"sha": c.OID, "node_id": nodeID(nodeCommit, v.ID, string(c.OID)),
		"url":      h.api("/repos/%s/git/commits/%s", v.fullName, c.OID),
		"html_url": h.api("/%s/commit/%s", v.fullName, c.OID),
		"author":   signatureShape(c.Author), "committer": signatureShape(c.Committer),
		"tree":    object{"sha": c.Tree, "url": h.api("/repos/%s/git/trees/%s", v.fullName, c.Tree)},
		"message": c.message, "parents": parents, "verification": verification,
	}
}

func signatureShape(s git.Signature) object {
	return object{"name": s.Name, "email": s.Email, "date": stamp(s.When)}
}

// accountOf finds whose address a commit bears; nil if nobody's here.
func (h *Hub) accountOf(s git.Signature) any {
	p, ok := h.byEmail(s.Email)
	if !ok {
		return nil
	}
	return h.userShape(p)
}

func (h *Hub) byEmail(email string) (personState, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, p := range h.state.People {
		if email != "" && strings.EqualFold(p.Email, email) {
			found := *p
			found.Tokens, found.Access = nil, nil
			return found, true
		}
	}
	return personState{}, false
}

// changedFiles are the files of one commit in a push event.
type changedFiles struct {
	added, removed, modified []string
}

// filesOf lists what each commit changed, up to maxPushFiles each.
func filesOf(ctx context.Context, repo *git.Repo, commits []git.Commit) ([]changedFiles, error) {
	oids := make([]git.OID, len(commits))
	for i, c := range commits {
		oids[i] = c.OID
	}
	files := make([]changedFiles, len(commits))
	for i := range files {
		files[i] = changedFiles{[]string{}, []string{}, []string{}}
	}
	err := repo.Changes(ctx, oids, func(i int, c git.Change) error {
		f := &files[i]
		if len(f.added)+len(f.removed)+len(f.modified) >= maxPushFiles {
			return nil
		}
		path := strings.ToValidUTF8(c.Path, "\uFFFD")
		switch c.Status {
		case 'A':
			f.added = append(f.added, path)
		case 'D':
			f.removed = append(f.removed, path)
		default:
			f.modified = append(f.modified, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list pushed files: %w", err)
	}
	return files, nil
}

// pushCommitShape is a commit in a push event.
func (h *Hub) pushCommitShape(r *repository, c git.Commit, files changedFiles) object {
	h.mu.RLock()
	fullName := h.config.Account + "/" + r.state.Name
	h.mu.RUnlock()
	message := c.Subject
	if c.Body != "" {
		message += "\n\n" + c.Body
	}
	return object{
		"id": c.OID, "tree_id": c.Tree, "distinct": true, "message": message,
		"timestamp": c.Committer.When.Format(time.RFC3339), "url": h.api("/%s/commit/%s", fullName, c.OID),
		"author": h.pushSignature(c.Author), "committer": h.pushSignature(c.Committer),
		"added": files.added, "removed": files.removed, "modified": files.modified,
	}
}

func (h *Hub) pushSignature(s git.Signature) object {
	o := object{"name": s.Name, "email": s.Email, "date": s.When.Format(time.RFC3339)}
	if p, ok := h.byEmail(s.Email); ok {
		o["username"] = p.Login
	}
	return o
}
