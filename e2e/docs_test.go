package e2e

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"vault/e2e/harness"
)

// pages lists the Markdown files that people read.
func pages(t *testing.T) []string {
	t.Helper()
	var list []string
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		list = append(list, filepath.Join(harness.Root(), name))
	}
	err := filepath.WalkDir(filepath.Join(harness.Root(), "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".md" {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Fatalf("only %d pages were found", len(list))
	}
	return list
}

var (
	docLink   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	runFolder = regexp.MustCompile(`go (?:run|test) (\./[a-z0-9/]+)`)
)

// TestDocsNameWhatExists follows every relative link, and looks for every
// folder that a command names.
func TestDocsNameWhatExists(t *testing.T) {
	t.Parallel()
	for _, page := range pages(t) {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Error(err)
			continue
		}
		name, _ := filepath.Rel(harness.Root(), page)
		for _, m := range docLink.FindAllStringSubmatch(string(data), -1) {
			u, err := url.Parse(m[1])
			if err != nil || u.Scheme != "" || u.Path == "" {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), u.Path)); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
		for _, m := range runFolder.FindAllStringSubmatch(string(data), -1) {
			folder := strings.TrimSuffix(m[1], "/...")
			if _, err := os.Stat(filepath.Join(harness.Root(), folder)); err != nil {
				t.Errorf("%s names the folder %s, which is not there", name, folder)
			}
		}
	}
}
