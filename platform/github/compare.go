package github

import (
	"context"
	"fmt"

	gogithub "github.com/google/go-github/v66/github"
)

// compareLimit is the most files GitHub names in a comparison. One with so
// many may have more.
const compareLimit = 300

// Comparison is how one commit differs from another.
type Comparison struct {
	// Status is "identical", "ahead", "behind" or "diverged", seen from the
	// base.
	Status string
	// Ahead and Behind count commits.
	Ahead  int
	Behind int
	// Files are the differences between the merge base and the head: the
	// differences from the base only when Status is "ahead".
	Files []ComparedFile
	// Truncated says that there may be more files than named.
	Truncated bool
}

// ComparedFile is one file of a comparison. GitHub does not give its mode, so
// that a symbolic link looks like a file here: FilesAt tells.
type ComparedFile struct {
	// Path is as GitHub gives it: text. A path that is no UTF-8 cannot be
	// told from this.
	Path string
	// Previous is the path before, of a renamed or copied file.
	Previous string
	// Status is added, removed, modified, renamed, copied, changed (the mode
	// only) or unchanged.
	Status string
	// OID is the blob at the head, of a removed file the blob before.
	OID string
}

// Compare compares two commits of a repository. base and head are full commit
// ids: a branch name could answer with the state before a write.
func (i *InstallationClient) Compare(ctx context.Context, fullName, base, head string) (Comparison, error) {
	owner, name, err := splitName(fullName)
	if err != nil {
		return Comparison{}, err
	}
	if !isOID(base) || !isOID(head) {
		return Comparison{}, fmt.Errorf("compare %q with %q: not full commit ids", base, head)
	}
	var out Comparison
	what := call{op: "compare commits", read: true, limit: textLimit}
	err = i.client.rest(ctx, what, func(ctx context.Context, gh *gogithub.Client) error {
		// Commits come in pages and all files with the first: a page of one
		// commit leaves out what is not needed.
		page := &gogithub.ListOptions{Page: 1, PerPage: 1}
		c, _, err := gh.Repositories.CompareCommits(ctx, owner, name, base, head, page)
		if err == nil {
			out = comparisonOf(c)
		}
		return err
	})
	return out, err
}

func comparisonOf(c *gogithub.CommitsComparison) Comparison {
	out := Comparison{
		Status:    c.GetStatus(),
		Ahead:     c.GetAheadBy(),
		Behind:    c.GetBehindBy(),
		Truncated: len(c.Files) >= compareLimit,
	}
	for _, f := range c.Files {
		out.Files = append(out.Files, ComparedFile{
			Path:     f.GetFilename(),
			Previous: f.GetPreviousFilename(),
			Status:   f.GetStatus(),
			OID:      f.GetSHA(),
		})
	}
	return out
}
