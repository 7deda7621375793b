package corpus

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// The modes of entries that a corpus has.
const (
	regular    = "100644"
	executable = "100755"
	symlink    = "120000"
	submodule  = "160000"
)

// file is one entry of a tree.
type file struct {
	path string
	mode string
	// data is the content, the target of a symbolic link, or the commit of a
	// submodule.
	data string
}

// change is one commit.
type change struct {
	subject string
	author  string
	// remove lists paths that go before files come.
	remove []string
	files  []file
	// side makes the commit beside the branch, and the next one a merge.
	side bool
}

// write makes a repository with a work tree out of commits. The same commits
// give the same ids every time.
func write(dir string, changes []change) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := Git(dir, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir = dir
	cmd.Env = environment()
	cmd.Stdin = bytes.NewReader(stream(changes))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git fast-import: %w: %s", err, out)
	}
	return Git(dir, "reset", "-q", "--hard")
}

// start is the time of the first commit: 2026-01-01 in UTC.
const start = 1767225600

// stream writes commits in the language of git fast-import.
func stream(changes []change) []byte {
	var b bytes.Buffer
	var side *change
	for i, c := range changes {
		branch := "refs/heads/main"
		if c.side {
			branch = "refs/heads/side"
		}
		who := fmt.Sprintf("%s <notes@example.org> %d +0100", c.author, start+i*3600)
		fmt.Fprintf(&b, "commit %s\nmark :%d\nauthor %s\ncommitter %s\ndata %d\n%s\n", branch, i+1, who, who, len(c.subject), c.subject)
		if c.side {
			fmt.Fprintf(&b, "from :%d\n", i)
		}
		if side != nil {
			// A merge begins with the files of its first parent alone.
			fmt.Fprintf(&b, "merge :%d\n", i)
			side.writeFiles(&b)
			side = nil
		}
		c.writeFiles(&b)
		if c.side {
			side = &c
		}
	}
	fmt.Fprintf(&b, "reset refs/heads/side\nfrom %040d\n\n", 0)
	return b.Bytes()
}

// writeFiles writes what a commit changes.
func (c *change) writeFiles(b *bytes.Buffer) {
	for _, path := range c.remove {
		fmt.Fprintf(b, "D %s\n", quoted(path))
	}
	for _, f := range c.files {
		if f.mode == submodule {
			fmt.Fprintf(b, "M %s %s %s\n", f.mode, f.data, quoted(f.path))
			continue
		}
		fmt.Fprintf(b, "M %s inline %s\ndata %d\n%s\n", f.mode, quoted(f.path), len(f.data), f.data)
	}
}

// quoted writes a path as git fast-import reads any bytes.
func quoted(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(path) {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			fmt.Fprintf(&b, `\%03o`, c)
			continue
		}
		b.WriteByte(c)
	}
	b.WriteByte('"')
	return b.String()
}

// Git runs git in a folder with a fixed identity and without settings of the
// user.
func Git(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[0], err, out)
	}
	return nil
}

func environment() []string {
	return append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Bench", "GIT_AUTHOR_EMAIL=bench@example.org",
		"GIT_COMMITTER_NAME=Bench", "GIT_COMMITTER_EMAIL=bench@example.org",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
}
