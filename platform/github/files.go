package github

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// filesPerQuery is how many files one query reads. GitHub gives up to 512,000
// bytes of text for each, and cuts a query off after ten seconds.
const filesPerQuery = 50

// maxFiles bounds one call of FilesAt.
const maxFiles = 10 * filesPerQuery

// FileAt is what stands at a path in one commit.
type FileAt struct {
	// Path is the path that was asked for.
	Path string
	// Missing says that nothing stands there; nothing else is set then.
	Missing bool
	// Mode is git's: 0o100644, 0o100755, 0o120000 for a symbolic link,
	// 0o160000 for a submodule, 0o040000 for a folder.
	Mode uint32
	// OID is the object: a blob, a folder's tree or a submodule's commit.
	OID string
	// Size is the blob's length in bytes, -1 for anything but a blob.
	Size int64
	// Text is the blob's text; nil for anything but a blob, and for a binary
	// one.
	Text *string
	// Binary says that GitHub found no text in the blob.
	Binary bool
	// Truncated says that Text is cut: GitHub gives 512,000 bytes. Blob reads
	// the whole.
	Truncated bool
}

// FilesAt reads files of one commit, at most 500, with their modes and texts,
// in the order of paths. It is an error with IsNotFound when the repository
// or the commit is missing; a missing file is not an error. Paths are UTF-8:
// GitHub's interface has no way to name another.
func (i *InstallationClient) FilesAt(ctx context.Context, nodeID, commit string, paths []string) ([]FileAt, error) {
	return i.client.filesAt(ctx, place{node: nodeID, commit: commit}, paths)
}

// FilesAt reads files of one commit with the person's token, like
// InstallationClient.FilesAt.
func (u *UserClient) FilesAt(ctx context.Context, nodeID, commit string, paths []string) ([]FileAt, error) {
	return u.client.filesAt(ctx, place{node: nodeID, commit: commit}, paths)
}

// place is one commit of one repository.
type place struct{ node, commit string }

func (c *client) filesAt(ctx context.Context, at place, paths []string) ([]FileAt, error) {
	if !isOID(at.commit) {
		return nil, fmt.Errorf("read files at %q: not a full commit id", at.commit)
	}
	if len(paths) > maxFiles {
		return nil, fmt.Errorf("read files: at most %d at once, not %d", maxFiles, len(paths))
	}
	if n := slices.IndexFunc(paths, func(p string) bool { return !utf8.ValidString(p) }); n >= 0 {
		return nil, fmt.Errorf("read files: path %d of %d is no UTF-8", n+1, len(paths))
	}
	out := make([]FileAt, 0, len(paths))
	for chunk := range slices.Chunk(paths, filesPerQuery) {
		files, err := c.filesOf(ctx, at, chunk)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

// fileEntry is a TreeEntry as the query asks for it. A mode is git's octal
// mode as a plain number: 33188 is 0o100644.
type fileEntry struct {
	Mode   uint32 `json:"mode"`
	OID    string `json:"oid"`
	Object *struct {
		ByteSize    *int64  `json:"byteSize"`
		IsBinary    *bool   `json:"isBinary"`
		IsTruncated bool    `json:"isTruncated"`
		Text        *string `json:"text"`
	} `json:"object"`
}

func (c *client) filesOf(ctx context.Context, at place, paths []string) ([]FileAt, error) {
	const op = "read files"
	var answer struct {
		Node *struct {
			Object *map[string]json.RawMessage `json:"object"`
		} `json:"node"`
	}
	ask := filesQuestion(at, paths)
	ask.op = op
	if _, err := c.rawQuery(ctx, ask, &answer); err != nil {
		return nil, err
	}
	if answer.Node == nil {
		return nil, missing(op, "the repository")
	}
	if answer.Node.Object == nil {
		return nil, missing(op, "the commit")
	}
	return decodeFiles(op, paths, *answer.Node.Object)
}

func decodeFiles(op string, paths []string, entries map[string]json.RawMessage) ([]FileAt, error) {
	out := make([]FileAt, len(paths))
	for n, path := range paths {
		raw, ok := entries[alias(n)]
		if !ok {
			// Not a commit but a tag or a tree: the fragment matched nothing.
			return nil, missing(op, "the commit")
		}
		var entry *fileEntry
		if err := json.Unmarshal(raw, &entry); err != nil {
			return nil, &Error{Op: op, Status: 200, class: classUnavailable, cause: err}
		}
		out[n] = fileOf(path, entry)
	}
	return out, nil
}

func fileOf(path string, entry *fileEntry) FileAt {
	if entry == nil {
		return FileAt{Path: path, Missing: true}
	}
	f := FileAt{Path: path, Mode: entry.Mode, OID: entry.OID, Size: -1}
	if blob := entry.Object; blob != nil && blob.ByteSize != nil {
		f.Size = *blob.ByteSize
		f.Text = blob.Text
		f.Binary = blob.Text == nil || blob.IsBinary != nil && *blob.IsBinary
		f.Truncated = blob.IsTruncated
	}
	return f
}

func alias(n int) string { return "f" + strconv.Itoa(n) }

// filesQuestion writes the query with one alias and one variable per path.
func filesQuestion(at place, paths []string) question {
	vars := map[string]any{"id": at.node, "oid": at.commit}
	var head, body strings.Builder
	for n, path := range paths {
		variable := "p" + strconv.Itoa(n)
		vars[variable] = path
		fmt.Fprintf(&head, ",$%s:String!", variable)
		fmt.Fprintf(&body, " %s:file(path:$%s){...entry}", alias(n), variable)
	}
	text := "query($id:ID!,$oid:GitObjectID!" + head.String() + "){node(id:$id){... on Repository{object(oid:$oid){... on Commit{" +
		body.String() + "}}}}} fragment entry on TreeEntry{mode oid object{... on Blob{byteSize isBinary isTruncated text}}}"
	return question{text: text, vars: vars, limit: textLimit, tolerated: missingFile}
}

// missingFile tells whether an entry of "errors" says that a path does not
// exist in the commit.
func missingFile(e apiError) bool {
	return e.Type == "NOT_FOUND" && len(e.Path) >= 3
}
