package acme_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vault/app/acme"
	"vault/modules/notes"
	"vault/modules/vaultdir"
	"vault/platform/git"
)

// sample is one repository after Fill.
type sample struct {
	acme.Repository
	git   *git.Repo
	head  git.OID
	files map[string]string
}

// filled fills a repository per sample and reads its last tree.
func filled(t *testing.T) map[string]sample {
	t.Helper()
	ctx := t.Context()
	runner, err := git.New(ctx, git.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runner.Close() })
	repositories, err := acme.Repositories()
	if err != nil {
		t.Fatal(err)
	}
	samples := map[string]sample{}
	for _, r := range repositories {
		s := sample{Repository: r, git: bare(t, runner)}
		if err := r.Fill(ctx, s.git); err != nil {
			t.Fatalf("fill %s: %v", r.Name, err)
		}
		if s.head, err = s.git.Ref(ctx, "refs/heads/main"); err != nil {
			t.Fatal(err)
		}
		s.files = contents(t, s.git, s.head)
		samples[r.Name] = s
	}
	return samples
}

func bare(t *testing.T, runner *git.Runner) *git.Repo {
	t.Helper()
	repo, err := runner.InitBare(t.Context(), filepath.Join(t.TempDir(), "sample.git"), "main")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}

// contents reads every file of a commit.
func contents(t *testing.T, repo *git.Repo, commit git.OID) map[string]string {
	t.Helper()
	files := map[string]string{}
	var entries []git.TreeEntry
	err := repo.Tree(t.Context(), commit, func(e git.TreeEntry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := repo.Blob(t.Context(), e.OID, 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", e.Path, err)
		}
		files[e.Path] = string(data)
	}
	return files
}

// The shape of the sample. A changed head means that the sample of everyone
// who has run `vault dev` before differs from a new one: change it knowingly.
func TestShape(t *testing.T) {
	t.Parallel()
	type shape struct {
		Head                   git.OID
		Commits, Notes, People int
	}
	want := map[string]shape{
		"handbook": {"e9bb542c0bf1f02caa8628f5da80aba919fb4aa7", 12, 18, 4},
		"projects": {"a28d65e71e2db5ca663e10ae432c015614127a26", 28, 53, 6},
	}
	got := map[string]shape{}
	for name, s := range filled(t) {
		now := shape{Head: s.head}
		people := map[string]bool{}
		for c := range log(t, s) {
			now.Commits++
			people[c.Author.Name] = true
		}
		now.People = len(people)
		for path := range s.files {
			if notes.IsNote(path) && !strings.HasPrefix(path, ".") {
				now.Notes++
			}
		}
		got[name] = now
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sample (-want +got):\n%s", diff)
	}
}

// log gives a sample's commits, newest first.
func log(t *testing.T, s sample) func(func(git.Commit) bool) {
	t.Helper()
	var commits []git.Commit
	err := s.git.Log(t.Context(), git.LogOptions{Tip: s.head}, func(c git.Commit) error {
		commits = append(commits, c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return slices.Values(commits)
}

func TestCommitsAreInOrderAndWellFormed(t *testing.T) {
	t.Parallel()
	for name, s := range filled(t) {
		var newer git.Commit
		for c := range log(t, s) {
			if len(c.Subject) > 72 || strings.HasSuffix(c.Subject, ".") {
				t.Errorf("%s: subject %q is too long or ends in a full stop", name, c.Subject)
			}
			if !newer.Author.When.IsZero() && !newer.Author.When.After(c.Author.When) {
				t.Errorf("%s: %q is not later than %q", name, newer.Subject, c.Subject)
			}
			if c.Author.When.Year() != 2026 || len(c.Parents) > 1 {
				t.Errorf("%s: %q of %s has %d parents", name, c.Subject, c.Author.When, len(c.Parents))
			}
			newer = c
		}
	}
}

func TestFillLeavesAFilledRepositoryAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, s := range filled(t) {
		if err := s.Fill(ctx, s.git); err != nil {
			t.Fatalf("%s: second fill: %v", name, err)
		}
		if again, _ := s.git.Ref(ctx, "refs/heads/main"); again != s.head {
			t.Errorf("%s: second fill moved main from %s to %s", name, s.head, again)
		}
		pushed := push(ctx, t, s)
		if err := s.Fill(ctx, s.git); err != nil {
			t.Fatalf("%s: fill after a push: %v", name, err)
		}
		if now, _ := s.git.Ref(ctx, "refs/heads/main"); now != pushed {
			t.Errorf("%s: fill undid a push", name)
		}
	}
}

// push puts one more commit onto main.
func push(ctx context.Context, t *testing.T, s sample) git.OID {
	t.Helper()
	base, err := s.git.Commit(ctx, s.head)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := s.git.WriteFiles(ctx, s.head, []git.FileChange{{Path: "new.md", Data: []byte("# New\n")}})
	if err != nil {
		t.Fatal(err)
	}
	oid, err := s.git.WriteCommit(ctx, git.CommitSpec{
		Tree: tree, Parents: []git.OID{s.head}, Author: base.Author, Committer: base.Committer, Message: "Add a note\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.git.UpdateRef(ctx, "refs/heads/main", oid, s.head); err != nil {
		t.Fatal(err)
	}
	return oid
}

func TestSettings(t *testing.T) {
	t.Parallel()
	want := map[string]struct {
		summary string
		folders []string
		told    string
	}{
		"handbook": {"How Acme works: onboarding, processes and policies.", []string{"/"}, "word for word"},
		"projects": {"One folder per project: plans, decisions and meeting notes.", []string{"active/", "archive/"}, "who made it"},
	}
	for name, s := range filled(t) {
		var files []vaultdir.File
		for path, text := range s.files {
			if strings.HasPrefix(path, vaultdir.Dir) {
				files = append(files, vaultdir.File{Path: path, Text: text})
			}
		}
		repo, findings := vaultdir.Load(name, files)
		if len(findings) > 0 {
			t.Errorf("%s: findings %v", name, findings)
		}
		w := want[name]
		if repo.Summary() != w.summary {
			t.Errorf("%s: summary %q", name, repo.Summary())
		}
		if diff := cmp.Diff(w.folders, repo.Folders()); diff != "" {
			t.Errorf("%s: folders (-want +got):\n%s", name, diff)
		}
		if !strings.Contains(repo.Instructions(), w.told) {
			t.Errorf("%s: instructions %q", name, repo.Instructions())
		}
	}
}

// paths is what a tree holds, for notes.Resolve.
type paths map[string]string

func (p paths) ByKey(key string) []string {
	var found []string
	for path := range p {
		if notes.Key(path) == key {
			found = append(found, path)
		}
	}
	return found
}

func (p paths) Has(path string) bool {
	if _, ok := p[path]; ok {
		return true
	}
	for file := range p {
		if strings.HasPrefix(file, path+"/") {
			return true
		}
	}
	return false
}

// broken lists the links that lead nowhere, as some do in every repository.
var broken = map[string][]string{
	"projects": {"active/launch/open-questions.md: press-kit", "active/warehouse/meetings/2026-02-09-site-visit.md: Store list"},
}

func TestLinksResolve(t *testing.T) {
	t.Parallel()
	for name, s := range filled(t) {
		var lost []string
		forms := map[notes.Form]int{}
		for _, path := range slices.Sorted(maps.Keys(s.files)) {
			if !notes.IsNote(path) || strings.HasPrefix(path, ".") {
				continue
			}
			doc := notes.Parse(s.files[path])
			for _, link := range doc.Links() {
				if link.External() {
					continue
				}
				forms[link.Form]++
				target, ok := notes.Resolve(path, link, paths(s.files))
				if !ok {
					lost = append(lost, path+": "+link.Target)
				} else if missing(s.files[target], link) {
					t.Errorf("%s: %s:%d: %s has no heading for %q", name, path, link.Line, target, link.Dest)
				}
			}
		}
		if diff := cmp.Diff(broken[name], lost); diff != "" {
			t.Errorf("%s: links that lead nowhere (-want +got):\n%s", name, diff)
		}
		t.Logf("%s: links by form: %v", name, forms)
	}
}

// missing reports whether a link names a heading that its target lacks. Blocks
// and views of a base are no headings.
func missing(text string, link notes.Link) bool {
	if link.Sub == "" || strings.HasPrefix(link.Sub, "^") || strings.Contains(link.Target, ".base") {
		return false
	}
	for _, h := range notes.Parse(text).Headings {
		slug := strings.ReplaceAll(strings.ToLower(h.Text), " ", "-")
		if h.Text == link.Sub || slug == link.Sub {
			return false
		}
	}
	return true
}

func TestNotesAreWellFormed(t *testing.T) {
	t.Parallel()
	for name, s := range filled(t) {
		for path, text := range s.files {
			if !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") || strings.HasSuffix(text, "\n\n") {
				t.Errorf("%s/%s does not end in one newline, or holds a carriage return", name, path)
			}
			if !notes.IsNote(path) {
				continue
			}
			doc := notes.Parse(text)
			if doc.FrontError != nil {
				t.Errorf("%s/%s: %v", name, path, doc.FrontError)
			}
			if doc.Field("type") == "decision" {
				checkDecision(t, name+"/"+path, doc)
			}
		}
	}
}

// checkDecision holds a decision to what the instructions of projects promise.
func checkDecision(t *testing.T, path string, doc *notes.Doc) {
	t.Helper()
	for _, field := range []string{"title", "status", "decided_by", "decided_on", "summary"} {
		if doc.Field(field) == "" {
			t.Errorf("%s has no %s", path, field)
		}
	}
	if !strings.Contains(doc.Text[doc.Body:], doc.Field("decided_by")) {
		t.Errorf("%s does not say in its text who decided", path)
	}
	if status := doc.Field("status"); status != "decided" && status != "superseded" {
		t.Errorf("%s has the status %q", path, status)
	}
}
