package github

import (
	"context"
	"fmt"

	gogithub "github.com/google/go-github/v66/github"
)

// Blob reads the bytes of one blob, of any kind and up to GitHub's 100 MB.
// One with more than limit bytes is ErrTooLarge.
func (i *InstallationClient) Blob(ctx context.Context, fullName, oid string, limit int64) ([]byte, error) {
	return i.client.blob(ctx, fullName, oid, limit)
}

// Blob reads the bytes of one blob with the person's token, like
// InstallationClient.Blob.
func (u *UserClient) Blob(ctx context.Context, fullName, oid string, limit int64) ([]byte, error) {
	return u.client.blob(ctx, fullName, oid, limit)
}

func (c *client) blob(ctx context.Context, fullName, oid string, limit int64) ([]byte, error) {
	owner, name, err := splitName(fullName)
	if err != nil {
		return nil, err
	}
	if !isOID(oid) {
		return nil, fmt.Errorf("read blob %q: not a full object id", oid)
	}
	var data []byte
	// An error's body needs room even when the caller wants few bytes.
	what := call{op: "read blob", read: true, raw: true, limit: max(limit, 64<<10)}
	err = c.rest(ctx, what, func(ctx context.Context, gh *gogithub.Client) error {
		data, _, err = gh.Git.GetBlobRaw(ctx, owner, name, oid)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > limit:
		return nil, &Error{Op: "read blob", Status: 200, Message: "the blob is larger than allowed", cause: ErrTooLarge}
	}
	return data, nil
}
