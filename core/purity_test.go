package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What core may not pull in, wherever it is named below it: each would bring
// I/O of its own, or weight that the WebAssembly build cannot carry.
var impure = []string{
	"net", "net/http", "os/exec", "crypto/tls", "log", "log/slog", "syscall/js", "mime/multipart", "net/textproto",
	"google.golang.org/protobuf/proto", "google.golang.org/protobuf/reflect/protoreflect", "google.golang.org/protobuf/runtime/protoimpl",
	"connectrpc.com/connect", "github.com/coder/websocket",
}

func TestNothingImpureIsPulledIn(t *testing.T) {
	for _, goos := range []string{"linux", "wasip1"} {
		for _, pkg := range list(t, goos, "-deps", "./...", "../wasm/shell") {
			require.NotContains(t, impure, pkg, "on %s", goos)
		}
	}
}

func list(t *testing.T, goos string, args ...string) []string {
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "GOARCH="+map[string]string{"linux": "amd64", "wasip1": "wasm"}[goos], "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// What core's own files may not name: waiting is the host's.
var unnamed = map[string][]string{
	"time":    {"Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Now", "Since", "Until"},
	"context": {"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause", "AfterFunc"},
}

var unimported = []string{"os", "sync", "math/rand", "math/rand/v2", "crypto/rand", "unsafe", "C"}

func TestNothingWaitsByItself(t *testing.T) {
	files := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, 0)
		require.NoError(t, err)
		inspect(t, files, file, unimported)
		return nil
	})
	require.NoError(t, err)
}

// TestTheShellWaitsForNothing: neither do the engine and the shell, which run the
// core inside WebAssembly.
func TestTheShellWaitsForNothing(t *testing.T) {
	files := token.NewFileSet()
	for _, dir := range []string{"engine", "frame", "shell"} {
		paths, err := filepath.Glob(filepath.Join("..", "wasm", dir, "*.go"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(files, path, nil, 0)
			require.NoError(t, err)
			inspect(t, files, file, []string{"os", "math/rand", "math/rand/v2", "crypto/rand", "unsafe", "C"})
		}
	}
}

func inspect(t *testing.T, files *token.FileSet, file *ast.File, unimported []string) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		require.NoError(t, err)
		if slices.Contains(unimported, path) || (unnamed[path] != nil && spec.Name != nil) {
			t.Errorf("%s: imports %s", files.Position(spec.Pos()), path)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			t.Errorf("%s: a go statement", files.Position(n.Pos()))
		case *ast.SelectStmt:
			t.Errorf("%s: a select", files.Position(n.Pos()))
		case *ast.SelectorExpr:
			if pkg, ok := n.X.(*ast.Ident); ok && slices.Contains(unnamed[pkg.Name], n.Sel.Name) {
				t.Errorf("%s: %s.%s", files.Position(n.Pos()), pkg.Name, n.Sel.Name)
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			t.Errorf("%s: an init function", files.Position(f.Pos()))
		}
	}
}

// TestNoStateOfPackages: a package-level variable is never written, nor is its
// address taken.
func TestNoStateOfPackages(t *testing.T) {
	files := token.NewFileSet()
	dirs := map[string][]*ast.File{}
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		dirs[filepath.Dir(path)] = append(dirs[filepath.Dir(path)], file)
		return err
	}))
	for _, pkg := range dirs {
		vars := packageVars(pkg)
		for _, file := range pkg {
			ast.Inspect(file, func(n ast.Node) bool {
				for _, target := range written(n) {
					if name := root(target); vars[name] && !local(file, target) {
						t.Errorf("%s: %s is written", files.Position(n.Pos()), name)
					}
				}
				return true
			})
		}
	}
}

func packageVars(pkg []*ast.File) map[string]bool {
	vars := map[string]bool{}
	for _, file := range pkg {
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					vars[name.Name] = name.Name != "_"
				}
			}
		}
	}
	return vars
}

// written are the expressions that a statement changes.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			if _, ok := n.X.(*ast.Ident); ok {
				return []ast.Expr{n.X}
			}
		}
	}
	return nil
}

func root(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.ParenExpr:
		return root(e.X)
	}
	return ""
}

// local tells whether a name is shadowed in the function around it.
func local(file *ast.File, at ast.Expr) bool {
	name, shadowed := root(at), false
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || at.Pos() < f.Pos() || at.Pos() > f.End() {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, lhs := range n.Lhs {
					if id, ok := lhs.(*ast.Ident); ok && n.Tok == token.DEFINE && id.Name == name {
						shadowed = true
					}
				}
			case *ast.Field:
				for _, id := range n.Names {
					shadowed = shadowed || id.Name == name
				}
			case *ast.ValueSpec:
				for _, id := range n.Names {
					shadowed = shadowed || id.Name == name
				}
			}
			return true
		})
	}
	return shadowed
}
