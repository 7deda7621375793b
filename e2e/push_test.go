package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vault/e2e/harness"
)

// owner gives a GitHub token of the person whose token is the first one.
func owner(t *testing.T, r harness.Ready) (login, token string) {
	t.Helper()
	for name, sealed := range r.People {
		if sealed == r.Token {
			login = name
		}
	}
	token, err := r.GitHubToken(login)
	if err != nil {
		t.Fatal(err)
	}
	return login, token
}

func TestACommitInAFolderIsSeen(t *testing.T) {
	t.Parallel()
	dir := reachable(t)
	folder := repository(t, filepath.Join(dir, "kb"), map[string]string{"a.md": "alpha\n"})
	c := startIn(t, dir, folder).Client()
	sees := func(path, word string) func() bool {
		return func() bool {
			answer, _ := text(c, "read_note", map[string]any{"repo": "kb", "path": path})
			return strings.Contains(answer, word)
		}
	}
	write(t, folder, map[string]string{"a.md": "changed\n", "b/c.md": "new\n"})
	git(t, folder, "add", "-A")
	git(t, folder, "commit", "-q", "-m", "Change")
	began := time.Now()
	until(t, 10*time.Second, "the changed note", sees("a.md", "changed"))
	t.Logf("seen after %s", time.Since(began))
	if !sees("b/c.md", "new")() {
		t.Error("one commit is seen in parts")
	}
	git(t, folder, "mv", "a.md", "moved.md")
	git(t, folder, "commit", "-q", "-m", "Move")
	git(t, folder, "pack-refs", "--all")
	until(t, 10*time.Second, "the moved note", sees("moved.md", "changed"))
	if sees("a.md", "changed")() {
		t.Error("the old path is still there")
	}
	git(t, folder, "reset", "-q", "--hard", "HEAD~2")
	until(t, 10*time.Second, "the rewritten branch", sees("a.md", "alpha"))
	git(t, folder, "checkout", "-q", "-b", "other")
	write(t, folder, map[string]string{"a.md": "on another branch\n"})
	git(t, folder, "commit", "-q", "-am", "Other branch")
	until(t, 10*time.Second, "the other branch", sees("a.md", "another branch"))
}

func TestAPushIsSeenAndChangesTheList(t *testing.T) {
	t.Parallel()
	d := start(t)
	_, token := owner(t, d.Ready)
	dir := reachable(t)
	git(t, dir, "clone", "-q", d.CloneURL("acme", "handbook", token), "clone")
	clone := filepath.Join(dir, "clone")
	c := d.Client()
	write(t, clone, map[string]string{"pushed.md": "---\ntitle: Pushed\n---\nfreshword\n"})
	git(t, clone, "add", "-A")
	git(t, clone, "commit", "-q", "-m", "Push a note")
	git(t, clone, "push", "-q", "origin", "HEAD")
	began := time.Now()
	until(t, 10*time.Second, "the pushed note", func() bool {
		answer, _ := text(c, "search_notes", map[string]any{"query": "freshword"})
		return strings.Contains(answer, "handbook/pushed.md")
	})
	t.Logf("seen after %s", time.Since(began))

	settings := fmt.Sprintf(`{"format": 3, "role": "root", "name": "handbook", "prompts": [], "resources": [], "summary": %q}`, "A new summary.")
	write(t, clone, map[string]string{".vault/settings.jsonc": settings})
	git(t, clone, "commit", "-q", "-am", "Change the summary")
	git(t, clone, "push", "-q", "origin", "HEAD")
	until(t, 15*time.Second, "the new summary in the list", func() bool {
		raw, err := c.RPC("tools/list", nil)
		return err == nil && strings.Contains(string(raw), "A new summary.")
	})

	// A broken file leaves the last good one in force.
	write(t, clone, map[string]string{".vault/settings.jsonc": "{ broken", "after.md": "afterword\n"})
	git(t, clone, "add", "-A")
	git(t, clone, "commit", "-q", "-m", "Break the settings")
	git(t, clone, "push", "-q", "origin", "HEAD")
	until(t, 10*time.Second, "the note beside the broken settings", func() bool {
		answer, _ := text(c, "search_notes", map[string]any{"query": "afterword"})
		return strings.Contains(answer, "handbook/after.md")
	})
	raw, err := c.RPC("tools/list", nil)
	if err != nil || !strings.Contains(string(raw), "A new summary.") {
		t.Errorf("broken settings came into force: %v", err)
	}
}

func TestRightsFollowGitHub(t *testing.T) {
	t.Parallel()
	d := start(t)
	c := guest(t, d)
	var login string
	for name, sealed := range d.People {
		if sealed == c.Token {
			login = name
		}
	}
	grant := map[string]string{"login": login, "repository": "projects", "permission": "read"}
	if err := d.Admin(http.MethodPut, "access", grant, nil); err != nil {
		t.Fatal(err)
	}
	if err := d.Admin(http.MethodDelete, "repositories/projects", map[string]string{}, nil); err != nil {
		t.Fatal(err)
	}
	first := d.Client()
	until(t, 20*time.Second, "the repository that left", func() bool {
		answer, _ := text(first, "tree", map[string]any{})
		return strings.Contains(answer, "handbook") && !strings.Contains(answer, "projects")
	})
	until(t, 20*time.Second, "its name out of the list", func() bool {
		raw, err := first.RPC("tools/list", nil)
		return err == nil && !strings.Contains(string(raw), `"const":"projects"`)
	})
}
