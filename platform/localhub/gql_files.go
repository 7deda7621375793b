package localhub

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"unicode/utf8"

	"vault/platform/git"
	"vault/platform/localhub/graphql"
)

const (
	// maxText is where GitHub cuts a blob's text.
	maxText = 512_000
	// maxReadText bounds the text that one request reads and answers with:
	// without it a query of a few kilobytes could ask for gigabytes.
	maxReadText = 64 << 20
	// binaryProbe is how much of a blob is looked at for a NUL.
	binaryProbe = 8000
)

// entryNode is the value of the type TreeEntry.
type entryNode struct {
	s *session
	v repoView
	e git.TreeEntry
	// path is the path from where the entry was looked up, in raw bytes.
	path string
}

// TypeName implements graphql.Object.
func (entryNode) TypeName() string { return "TreeEntry" }

// Field implements graphql.Object.
func (n entryNode) Field(ctx context.Context, name string, _ graphql.Args) (any, error) {
	file := n.path[strings.LastIndexByte(n.path, '/')+1:]
	switch name {
	case "extension":
		return extension(file), nil
	case "mode":
		return int(n.e.Mode), nil
	case "name":
		return strings.ToValidUTF8(file, "\uFFFD"), nil
	case "nameRaw":
		return base64.StdEncoding.EncodeToString([]byte(file)), nil
	case "object":
		return n.object(ctx)
	case "oid":
		return string(n.e.OID), nil
	case "path":
		return strings.ToValidUTF8(n.path, "\uFFFD"), nil
	case "pathRaw":
		return base64.StdEncoding.EncodeToString([]byte(n.path)), nil
	case "repository":
		return repositoryNode{n.s, n.v}, nil
	case "size":
		return n.size(ctx)
	case "submodule":
		if n.e.Type != "commit" {
			return nil, nil
		}
	case "type":
		return n.e.Type, nil
	}
	return nil, graphql.Unimplemented("TreeEntry", name)
}

func extension(file string) string {
	i := strings.LastIndexByte(file, '.')
	if i <= 0 {
		return ""
	}
	return strings.ToValidUTF8(file[i:], "\uFFFD")
}

// object is null for a submodule, whose commit is elsewhere, and for a blob
// that a partial clone left out.
func (n entryNode) object(ctx context.Context) (any, error) {
	if n.e.Type == "commit" {
		return nil, nil
	}
	found, err := n.s.object(ctx, n.v, n.e.OID)
	if errors.Is(err, errNoObject) {
		return nil, nil
	}
	return found, err
}

func (n entryNode) size(ctx context.Context) (any, error) {
	if n.e.Type != "blob" {
		return 0, nil
	}
	content, err := n.s.blob(ctx, n.v, n.e.OID)
	if err != nil {
		return nil, err
	}
	return content.size, nil
}

// blobContent is what GraphQL shows of a blob.
type blobContent struct {
	size      int64
	binary    bool
	truncated bool
	text      string
}

func (s *session) blob(ctx context.Context, v repoView, oid git.OID) (*blobContent, error) {
	return remember(&s.cache.blobs, objectKey{v.ID, oid}, func() (*blobContent, error) {
		o, err := v.git.Object(ctx, oid, maxText)
		if err != nil {
			return nil, noObject(err)
		}
		return contentOf(o), s.spend(len(o.Data))
	})
}

// spend draws on the text that a request may read.
func (s *session) spend(bytes int) error {
	if s.text += bytes; s.text > maxReadText {
		return graphql.Errorf("RESOURCE_LIMITS_EXCEEDED", "Resource limits for this query exceeded.")
	}
	return nil
}

// contentOf decides what is text as git does, and gives text of unknown
// encoding converted, as GitHub does: its bytes are then not those of the
// blob.
func contentOf(o git.Object) *blobContent {
	c := &blobContent{size: o.Size, truncated: o.Size > int64(len(o.Data))}
	if bytes.IndexByte(o.Data[:min(len(o.Data), binaryProbe)], 0) >= 0 {
		c.binary = true
		return c
	}
	data := o.Data
	if c.truncated {
		data = wholeRunes(data)
	}
	if utf8.Valid(data) {
		c.text = string(data)
		return c
	}
	var b strings.Builder
	for _, single := range data {
		b.WriteRune(rune(single)) // as Latin-1
	}
	c.text = b.String()
	return c
}

// wholeRunes drops a character that was cut in two.
func wholeRunes(data []byte) []byte {
	for i := 1; i <= min(len(data), utf8.UTFMax); i++ {
		at := len(data) - i
		if utf8.RuneStart(data[at]) {
			if !utf8.FullRune(data[at:]) {
				return data[:at]
			}
			return data
		}
	}
	return data
}

// blobNode is the value of the type Blob.
type blobNode struct{ gitObject }

// TypeName implements graphql.Object.
func (blobNode) TypeName() string { return "Blob" }

// Field implements graphql.Object.
func (n blobNode) Field(ctx context.Context, name string, _ graphql.Args) (any, error) {
	switch name {
	case "byteSize", "isBinary", "isTruncated", "text":
	default:
		return n.common("Blob", nodeBlob, name)
	}
	c, err := n.s.blob(ctx, n.v, n.oid)
	if err != nil {
		return nil, err
	}
	switch name {
	case "byteSize":
		return c.size, nil
	case "isBinary":
		return c.binary, nil
	case "isTruncated":
		return c.truncated, nil
	}
	if c.binary {
		return nil, nil
	}
	return c.text, n.s.spend(len(c.text))
}
