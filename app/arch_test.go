package app_test

import (
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// The rules below hold the architecture: who may import whom, and which
// package alone may touch an outside library.

// below lists, for each module, the modules it may import. platform is open
// to all of them.
var below = map[string][]string{
	"notes":         {},
	"vaultdir":      {"notes"},
	"types":         {"vaultdir", "notes"},
	"index":         {"types", "vaultdir", "notes"},
	"history":       {"index", "types", "vaultdir", "notes"},
	"bases":         {"index", "types", "vaultdir", "notes"},
	"changes":       {"history", "index", "types", "vaultdir", "notes"},
	"tool":          {"index", "types", "vaultdir", "notes"},
	"tools":         {"tool", "changes", "bases", "history", "index", "types", "vaultdir", "notes"},
	"engines":       {"tool", "changes", "bases", "history", "index", "types", "vaultdir", "notes"},
	"installations": {},
	"auth":          {"installations", "index"},
	"catalogue":     {"tool", "vaultdir", "installations"},
}

// choke lists outside libraries with the only packages that may import them,
// their own sub-packages included. storeFiles stands for files named store*.go
// of any module.
var choke = map[string][]string{
	"github.com/mark3labs/mcp-go":         {"platform/mcp"},
	"github.com/jackc/pgx":                {"platform/postgres", "platform/jobs", storeFiles},
	"github.com/riverqueue/river":         {"platform/jobs"},
	"github.com/pressly/goose":            {"platform/postgres"},
	"github.com/fergusstrange":            {"platform/postgres"},
	"github.com/google/go-github":         {"platform/github"},
	"github.com/shurcooL":                 {"platform/github"},
	"github.com/golang-jwt/jwt":           {"platform/github", "platform/localhub"},
	"github.com/vektah/gqlparser":         {"platform/localhub"},
	"github.com/spf13":                    {"app"},
	"github.com/prometheus/client_golang": {"platform/telemetry"},
	"github.com/xeipuuv/gojsonschema":     {"modules/tool", "modules/vaultdir", "modules/types", "modules/engines"},
	"github.com/tailscale/hujson":         {"modules/vaultdir"},
	"github.com/adrg/frontmatter":         {"modules/notes"},
	"github.com/yuin/goldmark":            {"modules/notes", "modules/vaultdir"},
	"github.com/go-playground/validator":  {"app", "modules/vaultdir"},
	"github.com/wasilibs/go-re2":          {"modules/index"},
	"github.com/maypok86/otter":           {"modules/auth", "modules/catalogue", "modules/index", "app/instance"},
	"github.com/agnivade/levenshtein":     {"modules/vaultdir", "modules/index", "app/settings"},
	"go.yaml.in/yaml":                     {"modules/notes", "modules/auth", "app"},
	"golang.org/x/crypto":                 {"modules/auth"},
	"os/exec":                             {"platform/git", "platform/postgres"},
	"reflect":                             {},
	"github.com/rogpeppe/go-internal":     {},
	"github.com/google/go-cmp":            {},
}

// storeFiles is a rule of choke.
const storeFiles = "modules/*/store*.go"

// topLevel lists the folders that may hold packages.
var topLevel = []string{"app", "modules", "platform", "schema", "e2e"}

// testHelpers are packages that only tests import, so they may use what
// tests use.
var testHelpers = []string{"platform/postgres/pgtest", "e2e"}

// fewest is how many packages the test must at least see, so that it cannot
// pass by looking at nothing.
const fewest = 15

// pkg is one package of this module as the go command lists it.
type pkg struct {
	name           string
	imports, tests []string
}

// load lists the module's packages. Imports of files named store*.go are kept
// apart by loadFileImports.
func load(t *testing.T) []pkg {
	t.Helper()
	const format = `{{.ImportPath}}|{{join .Imports " "}}|{{join .TestImports " "}} {{join .XTestImports " "}}`
	cmd := exec.Command("go", "list", "-f", format, "./...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		name := strings.TrimPrefix(strings.TrimPrefix(f[0], "vault"), "/")
		list = append(list, pkg{name: name, imports: strings.Fields(f[1]), tests: strings.Fields(f[2])})
	}
	if len(list) < fewest {
		t.Fatalf("only %d packages were loaded; the rules were not tested", len(list))
	}
	return list
}

func TestImportDirection(t *testing.T) {
	t.Parallel()
	for _, p := range load(t) {
		if err := placed(p.name); err != nil {
			t.Error(err)
			continue
		}
		for _, imp := range p.imports {
			if target, ours := strings.CutPrefix(imp, "vault/"); ours {
				if why := forbidden(p.name, target); why != "" {
					t.Errorf("%s imports %s: %s", p.name, target, why)
				}
			}
		}
	}
}

// placed reports a package outside the known folders, or a module without a
// rule.
func placed(name string) error {
	if name == "" {
		return nil
	}
	parts := strings.Split(name, "/")
	if !slices.Contains(topLevel, parts[0]) {
		return fmt.Errorf("package %s stands in a folder without a rule", name)
	}
	if parts[0] == "modules" {
		if _, ok := below[parts[1]]; !ok {
			return fmt.Errorf("module %s has no rule", parts[1])
		}
	}
	return nil
}

// forbidden says why from may not import to, or "".
func forbidden(from, to string) string {
	layer, _, _ := strings.Cut(from, "/")
	target, rest, _ := strings.Cut(to, "/")
	if slices.Contains(testHelpers, to) && layer != "e2e" {
		return "only tests import it"
	}
	switch layer {
	case "", "app", "e2e":
		return ""
	case "schema":
		return "schema imports nothing"
	case "platform":
		if target != "platform" {
			return "platform stands below modules and app"
		}
		return ""
	}
	if target == "app" || target == "e2e" {
		return "modules stand below app"
	}
	if target != "modules" {
		return ""
	}
	own := strings.Split(from, "/")[1]
	other, _, _ := strings.Cut(rest, "/")
	if own != other && !slices.Contains(below[own], other) {
		return "the table of modules does not allow it"
	}
	return ""
}

func TestChokePoints(t *testing.T) {
	t.Parallel()
	stores := importers(t)
	for _, p := range load(t) {
		if slices.Contains(testHelpers, p.name) || strings.HasPrefix(p.name, "e2e") {
			continue
		}
		for _, imp := range p.imports {
			for lib, allowed := range choke {
				if imp != lib && !strings.HasPrefix(imp, lib+"/") {
					continue
				}
				if !mayUse(p.name, imp, allowed, stores) {
					t.Errorf("%s imports %s; only %v may", p.name, imp, allowed)
				}
			}
		}
	}
}

// mayUse reports whether a package may import a library.
func mayUse(name, imp string, allowed []string, stores map[string][]string) bool {
	for _, a := range allowed {
		if a == storeFiles {
			if onlyInStores(name, imp, stores) {
				return true
			}
			continue
		}
		if name == a || strings.HasPrefix(name, a+"/") {
			return true
		}
	}
	return false
}

// onlyInStores reports whether every file of a module that imports the
// library is one of its store files.
func onlyInStores(name, imp string, files map[string][]string) bool {
	if !strings.HasPrefix(name, "modules/") {
		return false
	}
	for _, file := range files[name+"|"+imp] {
		if !strings.HasPrefix(path.Base(file), "store") {
			return false
		}
	}
	return true
}
