package localhub

import (
	"errors"
	"net/http"
	"sort"
	"strings"

	"vault/platform/git"
)

const (
	// maxCommitFiles is how many files GitHub lists of one commit in all, in
	// pages of commitFilePage.
	maxCommitFiles = 3000
	commitFilePage = 300
)

func (h *Hub) getCommit(x *exchange, v repoView) (any, error) {
	ctx := x.r.Context()
	name := x.r.PathValue("ref")
	oid, err := v.commit(ctx, name)
	if errors.Is(err, errNoObject) {
		if empty := v.notEmpty(ctx); empty != nil {
			return nil, empty
		}
		return nil, errUnprocessable("No commit found for SHA: " + name)
	}
	if err != nil {
		return nil, err
	}
	switch mediaType(x.r.Header.Get("Accept")).param {
	case "sha":
		return nil, h.answerSHA(x, oid)
	case "diff", "patch":
		return nil, errUnimplemented("a commit as diff or patch")
	}
	c, err := v.readCommit(ctx, oid)
	if err != nil {
		return nil, err
	}
	o := h.commitShape(v, c)
	var parent git.OID = git.Zero
	if len(c.Parents) > 0 {
		parent = c.Parents[0]
	}
	files, _, err := v.git.Stat(ctx, parent, oid, maxCommitFiles)
	if errors.Is(err, git.ErrNotFound) { // the parents were cut off: a shallow folder
		files, _, err = v.git.Stat(ctx, git.Zero, oid, maxCommitFiles)
	}
	if err != nil {
		return nil, err
	}
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
	}
	p := pageOf(x.r, commitFilePage)
	p.size = commitFilePage
	from, to := p.bounds(len(files))
	h.link(x, p, len(files))
	o["stats"] = object{"additions": added, "deletions": removed, "total": added + removed}
	o["files"] = h.fileShapes(v, oid, files[from:to])
	return o, nil
}

// answerSHA answers with the id alone, or 304 if the client has it.
func (h *Hub) answerSHA(x *exchange, oid git.OID) error {
	tag := `"` + string(oid) + `"`
	x.w.Header().Set("ETag", tag)
	x.w.Header().Set("Content-Type", "application/vnd.github.sha; charset=utf-8")
	if x.r.Header.Get("If-None-Match") == tag {
		x.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	_, _ = x.w.Write([]byte(oid))
	return nil
}

// fileShapes are changed files as compare and commits list them.
func (h *Hub) fileShapes(v repoView, head git.OID, files []git.FileStat) []object {
	out := make([]object, len(files))
	for i, f := range files {
		path := escapePath(f.Path)
		oid := f.NewOID
		if oid.IsZero() {
			oid = f.OldOID
		}
		out[i] = object{
			"sha": oid, "filename": f.Path, "status": statusName(f),
			"additions": f.Added, "deletions": f.Removed, "changes": f.Added + f.Removed,
			"blob_url":     h.api("/%s/blob/%s/%s", v.fullName, head, path),
			"raw_url":      h.api("/%s/raw/%s/%s", v.fullName, head, path),
			"contents_url": h.api("/repos/%s/contents/%s?ref=%s", v.fullName, path, head),
		}
		if f.Old != "" {
			out[i]["previous_filename"] = f.Old
		}
	}
	return out
}

func statusName(f git.FileStat) string {
	switch {
	case f.Status == 'A':
		return "added"
	case f.Status == 'D':
		return "removed"
	case f.Status == 'R':
		return "renamed"
	case f.Status == 'C':
		return "copied"
	case f.Status == 'T' || f.OldOID == f.NewOID:
		return "changed"
	}
	return "modified"
}

// escapePath makes a path safe inside an address, its slashes kept.
func escapePath(path string) string {
	const safe = alphanumeric + "-._~/!$&'()*+,;=:@"
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; strings.IndexByte(safe, c) >= 0 {
			b.WriteByte(c)
		} else {
			const digits = "0123456789ABCDEF"
			b.WriteString(string([]byte{'%', digits[c>>4], digits[c&15]}))
		}
	}
	return b.String()
}

func (h *Hub) getGitCommit(x *exchange, v repoView) (any, error) {
	oid, err := plainOID(x.r.PathValue("sha"))
	if err != nil {
		return nil, err
	}
	c, err := v.readCommit(x.r.Context(), oid)
	if err != nil {
		return nil, h.missing(x, v, err)
	}
	return h.gitCommitShape(v, c), nil
}

// getRef answers for one ref, named without refs/.
func (h *Hub) getRef(x *exchange, v repoView) (any, error) {
	name := "refs/" + x.r.PathValue("ref")
	oid, err := v.git.Ref(x.r.Context(), name)
	if err != nil {
		return nil, h.missing(x, v, noObject(err))
	}
	return h.refShape(x, v, name, oid)
}

func (h *Hub) refShape(x *exchange, v repoView, name string, oid git.OID) (object, error) {
	o, err := v.git.Object(x.r.Context(), oid, 0)
	if err != nil {
		return nil, err
	}
	return object{
		"ref": name, "node_id": nodeID(nodeRef, v.ID, name),
		"url":    h.api("/repos/%s/git/%s", v.fullName, escapePath(name)),
		"object": object{"sha": oid, "type": o.Kind, "url": h.api("/repos/%s/git/%ss/%s", v.fullName, o.Kind, oid)},
	}, nil
}

// matchingRefs lists the refs whose names begin with what is asked for.
func (h *Hub) matchingRefs(x *exchange, v repoView) (any, error) {
	refs, err := v.git.Refs(x.r.Context(), "refs/")
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(refs))
	for name := range refs {
		if strings.HasPrefix(name, "refs/"+x.r.PathValue("ref")) {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	out := make([]object, len(names))
	for i, name := range names {
		if out[i], err = h.refShape(x, v, name, refs[name]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (h *Hub) getBranch(x *exchange, v repoView) (any, error) {
	ctx := x.r.Context()
	name := x.r.PathValue("branch")
	oid, err := v.git.Ref(ctx, "refs/heads/"+name)
	if isAbsent(err) {
		return nil, &restError{Status: http.StatusNotFound, Message: "Branch not found"}
	}
	if err != nil {
		return nil, err
	}
	c, err := v.readCommit(ctx, oid)
	if err != nil {
		return nil, err
	}
	self := h.api("/repos/%s/branches/%s", v.fullName, escapePath(name))
	return object{
		"name": name, "commit": h.commitShape(v, c), "protected": false,
		"protection":     object{"enabled": false, "required_status_checks": object{"enforcement_level": "off", "contexts": []string{}, "checks": []string{}}},
		"protection_url": self + "/protection", "_links": object{"self": self, "html": h.api("/%s/tree/%s", v.fullName, escapePath(name))},
	}, nil
}
