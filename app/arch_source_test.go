package app_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one parsed file of the module.
type source struct {
	path  string
	lines int
	file  *ast.File
	fset  *token.FileSet
}

// sources parses every Go file below the module's root.
func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
		list = append(list, source{path: name, lines: strings.Count(string(data), "\n"), file: file, fset: fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// product leaves the test files out.
func product(list []source) []source {
	return slices.DeleteFunc(list, func(s source) bool { return strings.HasSuffix(s.path, "_test.go") })
}

// importers maps "package|import" to the files that import it.
func importers(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	for _, s := range product(sources(t)) {
		for _, imp := range s.file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			key := filepath.ToSlash(filepath.Dir(s.path)) + "|" + name
			files[key] = append(files[key], s.path)
		}
	}
	return files
}

// Exceptions to the sizes, each with its reason. The list should shrink.
var (
	longFunctions = map[string]string{}
	longFiles     = map[string]string{}
)

// The caps and the shape that sizes must keep.
const (
	functionCap, functionMedian, functionP95 = 100, 12, 60
	fileCap, fileMedian, fileP95             = 800, 150, 600
)

func TestSizes(t *testing.T) {
	t.Parallel()
	var functions, files []int
	for _, s := range product(sources(t)) {
		files = append(files, s.lines)
		if _, ok := longFiles[s.path]; s.lines > fileCap && !ok {
			t.Errorf("%s has %d lines; the cap is %d", s.path, s.lines, fileCap)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			n := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			functions = append(functions, n)
			name := s.path + ":" + f.Name.Name
			if _, ok := longFunctions[name]; n > functionCap && !ok {
				t.Errorf("%s has %d lines; the cap is %d", name, n, functionCap)
			}
		}
	}
	shape(t, "functions", functions, functionMedian, functionP95)
	shape(t, "files", files, fileMedian, fileP95)
}

// shape checks the median and the 95th percentile.
func shape(t *testing.T, what string, sizes []int, median, p95 int) {
	t.Helper()
	if len(sizes) < fewest {
		t.Fatalf("only %d %s were seen", len(sizes), what)
	}
	slices.Sort(sizes)
	m, p := sizes[len(sizes)/2], sizes[len(sizes)*95/100]
	t.Logf("%d %s: median %d, p95 %d, max %d lines", len(sizes), what, m, p, sizes[len(sizes)-1])
	if m > median || p > p95 {
		t.Errorf("%s: median %d (at most %d), p95 %d (at most %d)", what, m, median, p, p95)
	}
}

func TestNoInitAndPackageComments(t *testing.T) {
	t.Parallel()
	commented := map[string]bool{}
	for _, s := range product(sources(t)) {
		dir := filepath.Dir(s.path)
		commented[dir] = commented[dir] || s.file.Doc != nil
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "init" && f.Recv == nil {
				t.Errorf("%s has an init function", s.path)
			}
		}
	}
	for dir, ok := range commented {
		if !ok {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

// TestExportedNamesAreDocumented wants a comment on every exported function,
// method, type and group of values.
func TestExportedNamesAreDocumented(t *testing.T) {
	t.Parallel()
	for _, s := range product(sources(t)) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
					t.Errorf("%s: %s has no comment", s.path, d.Name.Name)
				}
			case *ast.GenDecl:
				undocumented(t, s.path, d)
			}
		}
	}
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	expr := d.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if index, ok := expr.(*ast.IndexExpr); ok {
		expr = index.X
	}
	id, ok := expr.(*ast.Ident)
	return ok && id.IsExported()
}

func undocumented(t *testing.T, path string, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
				t.Errorf("%s: type %s has no comment", path, spec.Name.Name)
			}
		case *ast.ValueSpec:
			if spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				t.Errorf("%s: %s has no comment", path, spec.Names[0].Name)
			}
		}
	}
}

// scopeMakers are the packages that may decide who reads what.
var scopeMakers = []string{"modules/auth", "modules/index"}

// TestScopesAreMadeByAuth keeps the decision who may read what in one place.
func TestScopesAreMadeByAuth(t *testing.T) {
	t.Parallel()
	for _, s := range product(sources(t)) {
		if slices.Contains(scopeMakers, filepath.ToSlash(filepath.Dir(s.path))) {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "NewScope" {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "index" {
				t.Errorf("%s makes a scope; only %v may", s.path, scopeMakers)
			}
			return true
		})
	}
}
