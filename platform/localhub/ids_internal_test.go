package localhub

import (
	"strings"
	"testing"
)

func TestNodeIDForm(t *testing.T) {
	t.Parallel()
	// The id of a real user, from GitHub's published examples.
	if got := nodeID(nodeUser, 94867353); got != "U_kgDOBaePmQ" {
		t.Errorf("id %s", got)
	}
	for _, name := range []string{"", "refs/heads/main", strings.Repeat("a", 31), strings.Repeat("b", 32), strings.Repeat("c", 255), strings.Repeat("d", 256), strings.Repeat("e", 70_000%65_536)} {
		got, ok := parseNodeID(nodeID(nodeRef, 12, name))
		if want := (parsedNode{nodeRef, 12, name}); !ok || got != want {
			t.Errorf("%d bytes came back as %+v, %v", len(name), got, ok)
		}
	}
}

func FuzzParseNodeID(f *testing.F) {
	f.Add("R_kgDOBaePmQ")
	f.Add(nodeID(nodeCommit, 5, strings.Repeat("0", 40)))
	f.Add("_")
	f.Fuzz(func(t *testing.T, text string) {
		n, ok := parseNodeID(text)
		if !ok {
			return
		}
		again := nodeID(n.prefix, n.id)
		if n.name != "" {
			again = nodeID(n.prefix, n.id, n.name)
		}
		if m, ok := parseNodeID(again); !ok || m != n {
			t.Errorf("%q parses to %+v, which comes back as %+v", text, n, m)
		}
	})
}

func TestInstallationNodeID(t *testing.T) {
	t.Parallel()
	if got := installationNodeID(123); got != "MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uMTIz" {
		t.Errorf("id %s", got)
	}
}

func TestMediaTypes(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]string{
		"":                                          "github.v3; format=json",
		"application/json":                          "github.v3; format=json",
		"application/vnd.github+json":               "github.v3; format=json",
		"application/vnd.github.v3+json":            "github.v3; format=json",
		"application/vnd.github.v3.raw":             "github.v3; param=raw",
		"application/vnd.github.raw+json":           "github.v3; param=raw; format=json",
		"text/html, application/vnd.github.sha;q=1": "github.v3; param=sha",
	} {
		if got := mediaType(accept).header(); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
}

func TestWholeRunes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a": "a", "aä": "aä", "a\xc3": "a", "a\xe2\x82": "a", "a\xf0\x9f\x98": "a", "a\xff": "a\xff"} {
		if got := string(wholeRunes([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
