package git

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSplitMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ message, subject, body string }{
		{"", "", ""},
		{"one", "one", ""},
		{"one\n", "one", ""},
		{"\n \none\ntwo  \n\nbody\n\nmore\n\n\n", "one two", "body\n\nmore"},
		{"one\n\n\n\n  indented\n", "one", "  indented"},
		{"one\r\n\r\nbody\r\n", "one", "body"},
	} {
		subject, body := splitMessage(c.message)
		if subject != c.subject || body != c.body {
			t.Errorf("%q: subject %q, body %q", c.message, subject, body)
		}
	}
}

// TestSplitMessageAsGit compares with git's own %s.
func TestSplitMessageAsGit(t *testing.T) {
	t.Parallel()
	p := workTree(t)
	tree := p.input("", "mktree")
	for _, message := range []string{"a", "a\nb\n\nc", " lead\n\nx", "\n\na\n  b  \n \nc", "tab\tx\t\ny\n\n\nz\n\n"} {
		oid := p.input(message, "commit-tree", tree)
		subject, body := splitMessage(p.run("cat-file", "commit", oid)[strings.Index(p.run("cat-file", "commit", oid), "\n\n")+2:])
		if want := p.run("log", "-1", "--format=%s", oid); subject != want {
			t.Errorf("%q: subject %q, git's %q", message, subject, want)
		}
		if want := strings.TrimRight(p.run("log", "-1", "--format=%b", oid), "\n"); body != want {
			t.Errorf("%q: body %q, git's %q", message, body, want)
		}
	}
}

func TestParseSignature(t *testing.T) {
	t.Parallel()
	epoch := "1970-01-01T00:00:00Z"
	for _, c := range []struct{ text, name, email, when string }{
		{"Ann <a@b> 1700000000 +0530", "Ann", "a@b", "2023-11-15T03:43:20+05:30"},
		{"Ann <a@b> 1700000000 -0030", "Ann", "a@b", "2023-11-14T21:43:20-00:30"},
		{"Ann <a@b> 1700000000 -0000", "Ann", "a@b", "2023-11-14T22:13:20Z"},
		{"Ann <a@b> 1700000000", "Ann", "a@b", "2023-11-14T22:13:20Z"},
		{"Ann <a@b> 1700000000 +051800", "Ann", "a@b", "2023-11-14T22:13:20Z"},
		{"A <a@b> <c> 1 +0000", "A", "a@b", "1970-01-01T00:00:01Z"},
		{"<a@b> 1 +0000", "", "a@b", "1970-01-01T00:00:01Z"},
		{"A <> 1 +0000", "A", "", "1970-01-01T00:00:01Z"},
		{"A <a@b>", "A", "a@b", epoch},
		{"A <a@b> -5 +0000", "A", "a@b", epoch},
		{"A <a@b> 99999999999999 +0000", "A", "a@b", epoch},
		{"A <a@b> 99999999999999999999999 +0000", "A", "a@b", epoch},
		{"nothing", "nothing", "", epoch},
		{"", "", "", epoch},
		{"A <a@b", "A", "a@b", epoch},
	} {
		s := parseSignature(c.text)
		if s.Name != c.name || s.Email != c.email || s.When.Format(time.RFC3339) != c.when {
			t.Errorf("%q: %q %q %s", c.text, s.Name, s.Email, s.When.Format(time.RFC3339))
		}
	}
}

func TestParseCommit(t *testing.T) {
	t.Parallel()
	tree, one, two := OID(strings.Repeat("a", 40)), OID(strings.Repeat("1", 40)), OID(strings.Repeat("2", 40))
	head := "tree " + string(tree) + "\nparent " + string(one) + "\nparent " + string(two) + "\n"
	sign := Signature{"J\u00f6rg", "j@x", time.Unix(5, 0).UTC()}
	for name, c := range map[string]struct {
		data string
		want Commit
	}{
		"latin": {
			head + "author J\xf6rg <j@x> 5 +0000\ncommitter J\xf6rg <j@x> 5 +0000\nencoding ISO-8859-1\n\n\xc4\n\n\xdf",
			Commit{Tree: tree, Parents: []OID{one, two}, Author: sign, Committer: sign, Subject: "Ä", Body: "ß"},
		},
		"git's name of latin": {
			head + "author J\xf6rg <j@x> 5 +0000\ncommitter J\xf6rg <j@x> 5 +0000\nencoding latin1\n\n\xc4",
			Commit{Tree: tree, Parents: []OID{one, two}, Author: sign, Committer: sign, Subject: "Ä"},
		},
		"japanese": {
			"tree " + string(tree) + "\nencoding Shift_JIS\n\n\x93\xfa\x96\x7b",
			Commit{Tree: tree, Author: epochSignature(), Committer: epochSignature(), Subject: "日本"},
		},
		"unknown encoding": {
			"tree " + string(tree) + "\nencoding \xff\x00nonsense\n\nok \xff",
			Commit{Tree: tree, Author: epochSignature(), Committer: epochSignature(), Subject: "ok \uFFFD"},
		},
		"signature with headers inside": {
			"tree " + string(tree) + "\ngpgsig -----BEGIN\n tree x\n author B <b> 1 +0000\n -----END\n\nm",
			Commit{Tree: tree, Author: epochSignature(), Committer: epochSignature(), Subject: "m"},
		},
		"nothing":    {"", Commit{Author: epochSignature(), Committer: epochSignature()}},
		"no message": {"tree " + string(tree), Commit{Tree: tree, Author: epochSignature(), Committer: epochSignature()}},
	} {
		if diff := cmp.Diff(c.want, parseCommit("", []byte(c.data))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func epochSignature() Signature { return Signature{When: time.Unix(0, 0).UTC()} }

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("tree " + strings.Repeat("a", 40) + "\nauthor A <a> 1 +0100\nencoding utf-16\n\nm\n\nb"))
	f.Add([]byte("author <<>> 9 +9999\nencoding hz-gb-2312\n\n~{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := parseCommit(Zero, data)
		for _, text := range []string{c.Subject, c.Body, c.Author.Name, c.Author.Email, c.Committer.Name} {
			if !utf8.ValidString(text) {
				t.Errorf("%q is no UTF-8", text)
			}
		}
		if strings.ContainsRune(c.Subject, '\n') {
			t.Errorf("subject %q has two lines", c.Subject)
		}
		if _, err := c.Author.When.MarshalJSON(); err != nil {
			t.Error(err)
		}
	})
}
