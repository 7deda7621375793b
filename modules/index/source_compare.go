package index

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"vault/platform/git"
	"vault/platform/github"
)

// compareSource reads a small change through GitHub's API. It remembers the
// texts that came along with a comparison.
type compareSource struct {
	client *github.InstallationClient
	nodeID string

	mu       sync.Mutex
	fullName string
	texts    map[git.OID]string
}

// CompareSource reads a repository through GitHub's API: where its branch
// stands, and what a push of fewer than 300 files changed. Whatever else is
// asked of it, it answers ErrNoDiff.
func CompareSource(client *github.InstallationClient, repo RepoInfo) Source {
	return &compareSource{
		client: client, nodeID: repo.NodeID, fullName: repo.FullName, texts: map[git.OID]string{},
	}
}

func (c *compareSource) Head(ctx context.Context, at Head) (Head, error) {
	heads, err := c.client.Heads(ctx, []string{c.nodeID})
	if err != nil {
		return Head{}, fmt.Errorf("read the branch on GitHub: %w", err)
	}
	h := heads[0]
	if h.Missing {
		return Head{}, ErrGone
	}
	c.mu.Lock()
	c.fullName = h.FullName
	c.mu.Unlock()
	if h.OID == "" {
		return Head{Branch: at.Branch, OID: git.Zero}, nil
	}
	return Head{Branch: h.Branch, OID: git.OID(h.OID)}, nil
}

func (c *compareSource) name() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fullName
}

func (c *compareSource) Diff(ctx context.Context, from, to git.OID) ([]FileChange, error) {
	comparison, err := c.client.Compare(ctx, c.name(), string(from), string(to))
	if github.IsNotFound(err) {
		return nil, fmt.Errorf("%w: %w", ErrNoDiff, err)
	}
	if err != nil {
		return nil, fmt.Errorf("compare on GitHub: %w", err)
	}
	if comparison.Status == "identical" {
		return nil, nil
	}
	if comparison.Status != "ahead" || comparison.Truncated {
		return nil, fmt.Errorf("%w: status %q, %d files", ErrNoDiff, comparison.Status, len(comparison.Files))
	}
	removed, paths, ok := comparedPaths(comparison.Files)
	if !ok {
		return nil, fmt.Errorf("%w: a path is no text", ErrNoDiff)
	}
	return c.entries(ctx, to, removed, paths)
}

// comparedPaths sorts the paths of a comparison into those that are gone and
// those that stand at its head. A renamed file is both. ok is false when a
// path was not text, so that GitHub could not give it.
func comparedPaths(files []github.ComparedFile) (removed map[string]bool, paths []string, ok bool) {
	removed = map[string]bool{}
	present := map[string]bool{}
	for _, f := range files {
		if strings.Contains(f.Path+f.Previous, "\uFFFD") {
			return nil, nil, false
		}
		switch f.Status {
		case "unchanged":
			continue
		case "removed":
			removed[f.Path] = true
			continue
		case "renamed":
			removed[f.Previous] = true
		}
		present[f.Path] = true
		paths = append(paths, f.Path)
	}
	for path := range present {
		delete(removed, path)
	}
	return removed, paths, true
}

// entries reads modes, sizes and texts of the paths at a commit.
func (c *compareSource) entries(
	ctx context.Context, to git.OID, removed map[string]bool, paths []string,
) ([]FileChange, error) {
	var out []FileChange
	for path := range removed {
		out = append(out, FileChange{Path: path, Removed: true})
	}
	if len(paths) == 0 {
		return out, nil
	}
	files, err := c.client.FilesAt(ctx, c.nodeID, string(to), paths)
	if github.IsNotFound(err) {
		return nil, fmt.Errorf("%w: %w", ErrNoDiff, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read changed files on GitHub: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range files {
		if f.Missing || f.Mode == git.ModeFolder {
			return nil, fmt.Errorf("%w: a changed file is not at the head", ErrNoDiff)
		}
		oid := git.OID(f.OID)
		out = append(out, FileChange{Path: f.Path, Mode: f.Mode, OID: oid, Size: f.Size})
		// Text that is not the blob byte for byte is read again as bytes.
		if f.Text != nil && !f.Truncated && git.BlobOID([]byte(*f.Text)) == oid {
			c.texts[oid] = *f.Text
		}
	}
	return out, nil
}

func (c *compareSource) Tree(context.Context, git.OID) ([]FileChange, error) {
	return nil, fmt.Errorf("%w: trees are read from a mirror", ErrNoDiff)
}

func (c *compareSource) Blobs(ctx context.Context, oids []git.OID, max int64, fn func(git.Blob) error) error {
	for _, oid := range oids {
		c.mu.Lock()
		text, ok := c.texts[oid]
		c.mu.Unlock()
		var err error
		switch {
		case ok && int64(len(text)) > max:
			err = fn(git.Blob{OID: oid, Size: int64(len(text)), TooLarge: true})
		case ok:
			err = fn(git.Blob{OID: oid, Data: []byte(text), Size: int64(len(text))})
		default:
			err = fetchOne(ctx, c.blob, oid, max, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *compareSource) blob(ctx context.Context, oid git.OID, max int64) ([]byte, error) {
	return c.client.Blob(ctx, c.name(), string(oid), max)
}

func (c *compareSource) Commit(ctx context.Context, oid git.OID) (CommitInfo, error) {
	info, err := c.client.CommitInfo(ctx, c.nodeID, string(oid))
	if err != nil {
		return CommitInfo{}, fmt.Errorf("read the commit on GitHub: %w", err)
	}
	out := CommitInfo{
		OID: git.OID(info.OID), Tree: git.OID(info.Tree),
		Author: signatureOf(info.Author), Committer: signatureOf(info.Committer),
		Subject: subjectOf(info.Message),
	}
	for _, p := range info.Parents {
		out.Parents = append(out.Parents, git.OID(p))
	}
	return out, nil
}

func signatureOf(s github.Signature) git.Signature {
	return git.Signature{Name: s.Name, Email: s.Email, When: s.When}
}

// subjectOf gives the first paragraph of a message on one line, which is what
// git calls its subject.
func subjectOf(message string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimLeft(message, "\n")) {
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, " ")
}

func (c *compareSource) Versions(context.Context, git.OID, string, func(git.OID, []byte) bool) error {
	return fmt.Errorf("%w: history is read from a mirror", ErrNoDiff)
}
