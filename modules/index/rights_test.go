package index

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"vault/modules/notes"
	"vault/platform/fault"
)

// TestRights walks every exported method of Snapshot with a person who reads
// one repository of two, and with one for whom parts of that one are closed.
func TestRights(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "closed", "open")
	secret := files{
		"secret.md":     "---\ntype: secrettype\nstatus: secretstatus\nsummary: secret\n---\nsecret launch [[plan]]\n",
		"secret/two.md": "secret\n", "README.md": "---\nsummary: secret\n---\nsecret\n",
	}
	w.repos["closed"].commit(secret)
	w.repos["closed"].update()
	w.repos["open"].commit(files{
		"public/plan.md":      "---\ntype: plan\n---\nlaunch [[secret]] [[hidden]]\n",
		"private/secret.md":   secret["secret.md"],
		".git-ish/secret.md":  "secret\n",
		settingsFile:          settings(`"public"`),
		"public/.secret.md":   "secret\n",
		"private/README.md":   secret["README.md"],
		"private/secret.base": "secret",
	})
	w.repos["open"].update()

	methods := map[string]func(ctx context.Context, s *Snapshot, repo string) (any, error){
		"Close":  nil,
		"Person": nil,
		"Repos":  func(_ context.Context, s *Snapshot, _ string) (any, error) { return names(s.Repos()), nil },
		"Repo": func(_ context.Context, s *Snapshot, repo string) (any, error) {
			r, ok := s.Repo(repo)
			return []any{r.Name, ok}, nil
		},
		"File": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return each(func(p string) (any, error) { f, ok, err := s.File(ctx, repo, p); return []any{f, ok}, err })
		},
		"Text": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return each(func(p string) (any, error) { f, ok, err := s.Text(ctx, repo, p); return []any{f, ok}, err })
		},
		"HasFolder": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			ok, err := s.HasFolder(ctx, repo, "private")
			if ok {
				return "secret folder", err
			}
			return ok, err
		},
		"List": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return s.List(ctx, ListQuery{Repos: some(repo), Limit: 100, Fields: []string{"status", "type"}})
		},
		"Values": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			types, err := s.Values(ctx, ValuesOfType, some(repo), 50)
			if err != nil {
				return nil, err
			}
			statuses, err := s.Values(ctx, ValuesOfStatus, some(repo), 50)
			return []any{types, statuses}, err
		},
		"Folders": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return s.Folders(ctx, FolderQuery{Repo: repo, Depth: 5, Limit: 100})
		},
		"Search": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			var all []any
			for _, q := range []SearchQuery{{Query: "secret"}, {Query: "se"}, {Query: "s.*t", Regex: true}, {Query: "launch"}} {
				q.Repos, q.Limit = some(repo), 100
				r, err := s.Search(ctx, q)
				if err != nil {
					return nil, err
				}
				for _, m := range r.Matches {
					if m.Repo != "open" || m.Path != "public/plan.md" {
						return "secret hit", nil
					}
				}
				all = append(all, len(r.Matches))
			}
			return all, nil
		},
		"Resolve": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			links := notes.Parse("[[secret]] [[two]] [x](../private/secret.md) [y](/private/) [[plan]]").Links()
			return s.Resolve(ctx, repo, "public/plan.md", links)
		},
		"Near": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return s.Near(ctx, repo, "sub/secret.md")
		},
		"NearFolders": func(ctx context.Context, s *Snapshot, repo string) (any, error) {
			return s.NearFolders(ctx, repo, "privatf")
		},
	}
	for _, name := range snapshotMethods(t) {
		if _, ok := methods[name]; !ok {
			t.Errorf("method %s is not walked", name)
		}
	}
	s := w.snapshot("open")
	for name, call := range methods {
		if call == nil {
			continue
		}
		for _, repo := range []string{"open", "closed", "none"} {
			got, err := call(t.Context(), s, repo)
			text, jsonErr := json.Marshal(got)
			must(t, jsonErr)
			if strings.Contains(string(text), "secret") && name != "Search" || strings.Contains(string(text), "secret hit") {
				t.Errorf("%s(%s) tells %s", name, repo, text)
			}
			if repo == "open" {
				must(t, err)
				continue
			}
			// What cannot be read and what does not exist look the same.
			if err != nil && fault.Public(err, "") != fault.Public(
				fault.NotFound("There is no repository %s that you can read", fault.Quote(repo)), "") {
				t.Errorf("%s(%s): %v", name, repo, err)
			}
			if err == nil && name != "Repo" && name != "Repos" {
				t.Errorf("%s(%s) answered %s", name, repo, text)
			}
		}
	}
}

func some(repo string) []string { return []string{repo} }

func names(repos []Repo) []string {
	var out []string
	for _, r := range repos {
		if r.Name == "closed" {
			return []string{"secret repository"}
		}
		out = append(out, r.Name)
	}
	return out
}

// each asks for paths that the person must not see.
func each(ask func(path string) (any, error)) (any, error) {
	var all []any
	for _, p := range []string{
		"secret.md", "private/secret.md", ".git-ish/secret.md", settingsFile, "public/.secret.md", "private/secret.base",
	} {
		got, err := ask(p)
		if err != nil {
			return nil, err
		}
		all = append(all, got)
		if strings.Contains(fmt.Sprint(got), "true]") {
			return "secret found", nil
		}
	}
	return len(all), nil
}

// snapshotMethods reads the exported methods of Snapshot out of the source.
func snapshotMethods(t *testing.T) []string {
	t.Helper()
	sources, err := filepath.Glob("*.go")
	must(t, err)
	var out []string
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		must(t, err)
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			star, ok := f.Recv.List[0].Type.(*ast.StarExpr)
			if !ok {
				continue
			}
			if id, ok := star.X.(*ast.Ident); ok && id.Name == "Snapshot" {
				out = append(out, f.Name.Name)
			}
		}
	}
	if len(out) < 10 {
		t.Fatalf("only %d methods were seen", len(out))
	}
	return out
}
