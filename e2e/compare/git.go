package compare

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Entry is one entry of a tree in git.
type Entry struct{ Mode, OID, Path string }

// Note is one note as git has it.
type Note struct {
	Entry
	// Text is its content, byte by byte.
	Text string
}

// Readable reports whether the content is text, which alone is searched and
// read.
func (n Note) Readable() bool { return utf8.ValidString(n.Text) && !strings.Contains(n.Text, "\x00") }

// Tree lists the tree of HEAD of a repository, with a work tree or bare.
func Tree(folder string) ([]Entry, error) {
	out, err := git(folder, nil, "ls-tree", "-r", "-z", "HEAD")
	if err != nil {
		return nil, err
	}
	var list []Entry
	for line := range strings.SplitSeq(string(out), "\x00") {
		meta, path, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		f := strings.Fields(meta)
		list = append(list, Entry{Mode: f[0], OID: f[2], Path: path})
	}
	return list, nil
}

// Notes gives the notes of HEAD that a list may hold, in byte order of their
// paths.
func Notes(folder string) ([]Note, error) {
	entries, err := Tree(folder)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool { return !e.note() })
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	texts, err := contents(folder, entries)
	if err != nil {
		return nil, err
	}
	list := make([]Note, len(entries))
	for i, e := range entries {
		list[i] = Note{Entry: e, Text: texts[i]}
	}
	return list, nil
}

// note reports whether an entry is an ordinary Markdown file whose path a
// caller can send, outside hidden folders.
func (e Entry) note() bool {
	name := strings.ToLower(filepath.Base(e.Path))
	if e.Mode != "100644" && e.Mode != "100755" || !strings.HasSuffix(name, ".md") && !strings.HasSuffix(name, ".markdown") {
		return false
	}
	if !utf8.ValidString(e.Path) || strings.Contains(e.Path, `\`) || strings.ContainsFunc(e.Path, unsendable) {
		return false
	}
	return !strings.HasPrefix(e.Path, ".") && !strings.Contains(e.Path, "/.")
}

func unsendable(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Bidi_Control, r)
}

// contents reads blobs with one git process.
func contents(folder string, entries []Entry) ([]string, error) {
	var in strings.Builder
	for _, e := range entries {
		in.WriteString(e.OID + "\n")
	}
	out, err := git(folder, strings.NewReader(in.String()), "cat-file", "--batch", "--buffer")
	if err != nil {
		return nil, err
	}
	r := bufio.NewReader(bytes.NewReader(out))
	list := make([]string, len(entries))
	for i, e := range entries {
		head, err := r.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("read the content of %q: %w", e.Path, err)
		}
		var oid, kind string
		var size int
		if _, err := fmt.Sscan(head, &oid, &kind, &size); err != nil {
			return nil, fmt.Errorf("read the content of %q: git says %q: %w", e.Path, head, err)
		}
		data := make([]byte, size+1)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, fmt.Errorf("read the content of %q: %w", e.Path, err)
		}
		list[i] = string(data[:size])
	}
	return list, nil
}

// Form is a path in the form in which paths are asked for.
func Form(path string) string { return norm.NFC.String(path) }

// Export writes the readable notes into a folder, byte by byte, for programs
// that search files.
func Export(dir string, notes []Note) error {
	for _, n := range notes {
		if !n.Readable() {
			continue
		}
		path := filepath.Join(dir, n.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(n.Text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// git runs git in a repository.
func git(folder string, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.Command("git", append([]string{"-c", "safe.directory=*"}, args...)...)
	cmd.Dir = folder
	cmd.Stdin = in
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("git %s: %w: %s", args[0], err, exit.Stderr)
	}
	return out, err
}
