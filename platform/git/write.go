package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// WriteBlob stores a file's content.
func (repo *Repo) WriteBlob(ctx context.Context, data []byte) (OID, error) {
	return repo.writeObject(ctx, "blob", data)
}

// WriteTree stores one level of a tree from Mode, OID and Path (a name without
// slash) of each entry, in any order. Names that git does not allow, and names
// given twice, are refused.
func (repo *Repo) WriteTree(ctx context.Context, entries []TreeEntry) (OID, error) {
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if err := checkEntry(e); err != nil {
			return "", err
		}
		if seen[e.Path] {
			return "", fmt.Errorf("tree entry %.200q is given twice: %w", e.Path, ErrRefused)
		}
		seen[e.Path] = true
	}
	data, err := encodeTree(entries)
	if err != nil {
		return "", err
	}
	return repo.writeObject(ctx, "tree", data)
}

// encodeTree writes "<octal mode> SP <name> NUL <20 bytes>" for each entry in
// git's order, in which a folder's name counts as if it ended in a slash.
func encodeTree(entries []TreeEntry) ([]byte, error) {
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b TreeEntry) int { return strings.Compare(treeKey(a), treeKey(b)) })
	var b bytes.Buffer
	for _, e := range sorted {
		raw, err := hex.DecodeString(string(e.OID))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%o %s\x00", e.Mode, e.Path)
		b.Write(raw)
	}
	return b.Bytes(), nil
}

func treeKey(e TreeEntry) string {
	if e.Mode&0o170000 == ModeFolder {
		return e.Path + "/"
	}
	return e.Path
}

func checkEntry(e TreeEntry) error {
	switch e.Mode {
	case ModeFile, ModeExecutable, ModeSymlink, ModeSubmodule, ModeFolder:
	default:
		return fmt.Errorf("tree entry %.200q has mode %o: %w", e.Path, e.Mode, ErrRefused)
	}
	if len(e.OID) != 40 || !e.OID.Valid() || e.OID.IsZero() {
		return fmt.Errorf("tree entry %.200q has id %.80q: %w", e.Path, string(e.OID), ErrRefused)
	}
	return checkName(e.Path)
}

// checkName refuses what git's fsck finds fault with, names that a file system
// takes for .git included (git-config(1), core.protectHFS and core.protectNTFS).
func checkName(name string) error {
	plain := strings.ToLower(strings.TrimRight(strings.Map(hfsIgnores, name), " ."))
	bad := name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") ||
		plain == ".git" || plain == "git~1" || strings.HasPrefix(plain, ".git:")
	if bad || len(name) > 4096 {
		return fmt.Errorf("name %.200q: %w", name, ErrRefused)
	}
	return nil
}

// hfsIgnores drops the characters that HFS+ leaves out of names.
func hfsIgnores(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}

// CommitSpec is a commit to write.
type CommitSpec struct {
	Tree    OID
	Parents []OID
	// Author and Committer state the time and its zone. Their texts lose the
	// characters that would end them in a commit: <, > and line ends.
	Author, Committer Signature
	// Message is stored as it is. NUL is refused.
	Message string
}

// WriteCommit stores a commit. Equal specs give equal ids.
func (repo *Repo) WriteCommit(ctx context.Context, spec CommitSpec) (OID, error) {
	data, err := encodeCommit(spec)
	if err != nil {
		return "", err
	}
	return repo.writeObject(ctx, "commit", data)
}

func encodeCommit(spec CommitSpec) ([]byte, error) {
	var b bytes.Buffer
	for _, oid := range append([]OID{spec.Tree}, spec.Parents...) {
		if len(oid) != 40 || !oid.Valid() || oid.IsZero() {
			return nil, fmt.Errorf("commit with tree or parent %.80q: %w", string(oid), ErrRefused)
		}
	}
	fmt.Fprintf(&b, "tree %s\n", spec.Tree)
	for _, parent := range spec.Parents {
		fmt.Fprintf(&b, "parent %s\n", parent)
	}
	for _, s := range []struct {
		key string
		Signature
	}{{"author", spec.Author}, {"committer", spec.Committer}} {
		line, err := encodeSignature(s.Signature)
		if err != nil {
			return nil, fmt.Errorf("commit's %s: %w", s.key, err)
		}
		fmt.Fprintf(&b, "%s %s\n", s.key, line)
	}
	if strings.ContainsRune(spec.Message, 0) {
		return nil, fmt.Errorf("commit message with NUL: %w", ErrRefused)
	}
	return append(append(b.Bytes(), '\n'), spec.Message...), nil
}

func encodeSignature(s Signature) (string, error) {
	name, email := signatureText(s.Name), signatureText(s.Email)
	if seconds := s.When.Unix(); name == "" || seconds < 0 || seconds > latest {
		return "", fmt.Errorf("name %.100q, time %s: %w", s.Name, s.When, ErrRefused)
	}
	return fmt.Sprintf("%s <%s> %d %s", name, email, s.When.Unix(), s.When.Format("-0700")), nil
}

// signatureText drops what ends a name or address.
func signatureText(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>\n\r\x00", r) {
			return -1
		}
		return r
	}, text))
}
