package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Signature says who did something, and when.
type Signature struct {
	Name, Email string
	// When is in the zone that the commit states; the start of 1970 when the
	// commit states no time that can be read.
	When time.Time
}

// Commit is one commit. Texts are valid UTF-8, converted from the encoding
// that the commit states.
type Commit struct {
	OID               OID
	Tree              OID
	Parents           []OID
	Author, Committer Signature
	// Subject is the first paragraph of the message on one line, Body the
	// rest. A message over 1 MB is cut.
	Subject, Body string
}

// Commit reads one commit. ErrNotFound if the repository has none of that id.
func (repo *Repo) Commit(ctx context.Context, oid OID) (Commit, error) {
	kind, data, _, err := repo.object(ctx, oid, repo.run.limits.commit)
	if err != nil {
		return Commit{}, fmt.Errorf("read commit %s: %w", oid, err)
	}
	if kind != "commit" {
		return Commit{}, fmt.Errorf("read commit %s: it is a %s: %w", oid, kind, ErrNotFound)
	}
	return parseCommit(oid, data), nil
}

// parseCommit reads a commit object leniently: what a broken commit lacks
// stays empty, as git's own log does it.
func parseCommit(oid OID, data []byte) Commit {
	headers, message, _ := strings.Cut(string(data), "\n\n")
	c := Commit{OID: oid}
	var encoding, author, committer string
	for line := range strings.SplitSeq(headers, "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "tree" && c.Tree == "" && OID(value).Valid():
			c.Tree = OID(value)
		case key == "parent" && OID(value).Valid():
			c.Parents = append(c.Parents, OID(value))
		case key == "author" && author == "":
			author = value
		case key == "committer" && committer == "":
			committer = value
		case key == "encoding" && encoding == "":
			encoding = value
		}
	}
	decode := decoder(encoding)
	c.Author, c.Committer = parseSignature(decode(author)), parseSignature(decode(committer))
	c.Subject, c.Body = splitMessage(decode(message))
	return c
}

// splitMessage follows git's %s and %b: the subject is the first paragraph
// with its lines joined by spaces.
func splitMessage(message string) (subject, body string) {
	rest := trimBlankLines(message)
	var lines []string
	for rest != "" {
		line, after, _ := strings.Cut(rest, "\n")
		if line = strings.TrimRight(line, " \t\r\f\v"); line == "" {
			break
		}
		lines = append(lines, line)
		rest = after
	}
	return strings.Join(lines, " "), strings.TrimRight(trimBlankLines(rest), " \t\r\n\f\v")
}

func trimBlankLines(text string) string {
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found || strings.TrimSpace(line) != "" {
			return text
		}
		text = rest
	}
}
