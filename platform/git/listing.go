package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
)

// Refs lists the refs below a prefix, as in "refs/heads/", by full name. A tag
// has the tag object's id.
func (repo *Repo) Refs(ctx context.Context, prefix string) (map[string]OID, error) {
	if err := checkRef(strings.TrimSuffix(prefix, "/")); err != nil && prefix != "refs/" {
		return nil, err
	}
	refs := map[string]OID{}
	err := repo.walk(ctx, call{
		args: []string{"for-each-ref", "--format=%(objectname) %(refname)", "--", prefix},
	}, func(out io.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			oid, name, ok := strings.Cut(lines.Text(), " ")
			if !ok || len(refs) >= repo.run.limits.entries {
				return fmt.Errorf("unexpected answer of git for-each-ref: %.200q", lines.Text())
			}
			refs[name] = OID(oid)
		}
		return lines.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("list refs below %.200q: %w", prefix, err)
	}
	return refs, nil
}

// Identity is the user.name and user.email that a repository's own settings
// state, "" where they state none. Includes are not followed.
func (r *Runner) Identity(ctx context.Context, f Folder) (name, email string, err error) {
	config, err := r.readConfig(ctx, f)
	if err != nil {
		return "", "", fmt.Errorf("look at %.300q: %w", f.GitDir, err)
	}
	return config["user.name"], config["user.email"], nil
}
