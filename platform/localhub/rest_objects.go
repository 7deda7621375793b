package localhub

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"vault/platform/git"
)

const (
	// maxBlob is the largest blob that GitHub's API gives out.
	maxBlob = 100 << 20
	// maxTreeEntries and maxTreeBytes are GitHub's limits for one tree.
	maxTreeEntries = 100_000
	maxTreeBytes   = 7 << 20
)

// plainOID reads an object id out of a request's path.
func plainOID(text string) (git.OID, error) {
	oid := git.OID(strings.ToLower(text))
	if !oid.Valid() || len(oid) != len(git.Zero) {
		return "", errUnprocessable("The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
	}
	return oid, nil
}

// missing turns errNoObject into GitHub's answer: 409 in an empty repository,
// else 404.
func (h *Hub) missing(x *exchange, v repoView, err error) error {
	if !errors.Is(err, errNoObject) {
		return err
	}
	if empty := v.notEmpty(x.r.Context()); empty != nil {
		return empty
	}
	return errNotFound()
}

func (h *Hub) getBlob(x *exchange, v repoView) (any, error) {
	oid, err := plainOID(x.r.PathValue("sha"))
	if err != nil {
		return nil, err
	}
	data, err := v.git.Blob(x.r.Context(), oid, maxBlob)
	switch {
	case errors.Is(err, git.ErrTooLarge):
		return nil, &restError{
			Status: http.StatusForbidden, Message: "This API returns blobs up to 100 MB in size. The requested blob is too large to fetch via the API, but you can always clone the repository via Git in order to obtain it.",
			Errors: []any{object{"resource": "Blob", "field": "data", "code": "too_large"}},
		}
	case err != nil:
		return nil, h.missing(x, v, noObject(err))
	}
	if mediaType(x.r.Header.Get("Accept")).param == "raw" {
		x.w.Header().Set("Content-Type", "application/vnd.github.raw; charset=utf-8")
		x.w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = x.w.Write(data)
		return nil, nil
	}
	return object{
		"sha": oid, "node_id": nodeID(nodeBlob, v.ID, string(oid)), "size": len(data),
		"url":     h.api("/repos/%s/git/blobs/%s", v.fullName, oid),
		"content": wrapBase64(data), "encoding": "base64",
	}, nil
}

// wrapBase64 breaks lines after 60 characters, as GitHub does.
func wrapBase64(data []byte) string {
	encoded := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(encoded) > 60 {
		b.WriteString(encoded[:60] + "\n")
		encoded = encoded[60:]
	}
	if encoded != "" {
		b.WriteString(encoded + "\n")
	}
	return b.String()
}

func (h *Hub) getTree(x *exchange, v repoView) (any, error) {
	ctx := x.r.Context()
	oid, err := v.resolve(ctx, x.r.PathValue("ref"))
	if err == nil {
		oid, err = v.peel(ctx, oid, "tree")
	}
	if err != nil {
		return nil, h.missing(x, v, err)
	}
	w := &treeWalk{h: h, x: x, v: v, sizes: map[string]int64{}}
	if w.sizes, err = sizesBelow(x, v, oid); err != nil {
		return nil, err
	}
	// GitHub takes any value of the parameter for yes, "0" and "false" too.
	if err := w.walk(oid, "", x.r.URL.Query().Get("recursive") != ""); err != nil {
		return nil, err
	}
	return object{
		"sha": oid, "url": h.api("/repos/%s/git/trees/%s", v.fullName, oid),
		"tree": w.out, "truncated": w.truncated,
	}, nil
}

// sizesBelow gives the size of every blob below a tree.
func sizesBelow(x *exchange, v repoView, tree git.OID) (map[string]int64, error) {
	sizes := map[string]int64{}
	err := v.git.Tree(x.r.Context(), tree, func(e git.TreeEntry) error {
		sizes[e.Path] = e.Size
		return nil
	})
	return sizes, err
}

// treeWalk lists a tree until one of GitHub's limits is met.
type treeWalk struct {
	h         *Hub
	x         *exchange
	v         repoView
	sizes     map[string]int64
	out       []object
	bytes     int
	truncated bool
}

func (w *treeWalk) walk(tree git.OID, prefix string, recursive bool) error {
	entries, err := w.v.git.Entries(w.x.r.Context(), tree)
	if err != nil {
		return err
	}
	if w.out == nil {
		w.out = []object{}
	}
	for _, e := range entries {
		path := prefix + e.Path
		w.bytes += len(path) + 200 // the rest of an entry is of much the same length
		if len(w.out) >= maxTreeEntries || w.bytes > maxTreeBytes {
			w.truncated = true
			return nil
		}
		w.out = append(w.out, w.shape(e, path))
		if e.Type == "tree" && recursive {
			if err := w.walk(e.OID, path+"/", true); err != nil {
				return err
			}
		}
		if w.truncated {
			return nil
		}
	}
	return nil
}

func (w *treeWalk) shape(e git.TreeEntry, path string) object {
	o := object{"path": path, "mode": fmt.Sprintf("%06o", e.Mode), "type": e.Type, "sha": e.OID}
	switch e.Type {
	case "blob":
		o["size"] = w.sizes[path]
		o["url"] = w.h.api("/repos/%s/git/blobs/%s", w.v.fullName, e.OID)
	case "tree":
		o["url"] = w.h.api("/repos/%s/git/trees/%s", w.v.fullName, e.OID)
	}
	return o
}
