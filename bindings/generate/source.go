package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

const module = "github.com/agent-sandbox/agent-sandbox"

// Source reads what reflection cannot see: comments and constants.
type Source struct {
	root     string
	packages map[string][]*ast.File
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = up
	}
}

func (s *Source) files(pkg string) ([]*ast.File, error) {
	if files, ok := s.packages[pkg]; ok {
		return files, nil
	}
	below, ok := strings.CutPrefix(pkg, module)
	if !ok {
		return nil, fmt.Errorf("%s is not of this module", pkg)
	}
	names, err := filepath.Glob(filepath.Join(s.root, below, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	s.packages[pkg] = files
	return files, nil
}

// typeSpec finds the declaration of a named type and its comment.
func (s *Source) typeSpec(pkg, name string) (*ast.TypeSpec, string, error) {
	files, err := s.files(pkg)
	if err != nil {
		return nil, "", err
	}
	for spec, decl := range specs[*ast.TypeSpec](files, token.TYPE) {
		if spec.Name.Name != name {
			continue
		}
		comment := spec.Doc.Text()
		if comment == "" {
			comment = decl.Doc.Text()
		}
		return spec, comment, nil
	}
	return nil, "", fmt.Errorf("no type %s in %s", name, pkg)
}

// fieldComments gives the comments of a struct's fields, by Go name.
func (s *Source) fieldComments(t reflect.Type) (map[string]string, error) {
	spec, _, err := s.typeSpec(t.PkgPath(), t.Name())
	if err != nil {
		return nil, err
	}
	for {
		other, ok := spec.Type.(*ast.Ident)
		if !ok {
			break
		}
		if spec, _, err = s.typeSpec(t.PkgPath(), other.Name); err != nil {
			return nil, err
		}
	}
	comments := map[string]string{}
	structure, ok := spec.Type.(*ast.StructType)
	if !ok {
		return comments, nil
	}
	for _, f := range structure.Fields.List {
		comment := f.Doc.Text()
		if comment == "" {
			comment = f.Comment.Text()
		}
		for _, n := range f.Names {
			comments[n.Name] = comment
		}
	}
	return comments, nil
}

// Constant is one constant of a string type.
type Constant struct {
	Name, Value, Comment string
}

// constants gives those of a named string type, in the order of the source.
func (s *Source) constants(pkg, typeName string) ([]Constant, error) {
	files, err := s.files(pkg)
	if err != nil {
		return nil, err
	}
	var all []Constant
	for spec := range specs[*ast.ValueSpec](files, token.CONST) {
		ident, ok := spec.Type.(*ast.Ident)
		if !ok || ident.Name != typeName || len(spec.Values) != 1 {
			continue
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			continue
		}
		value, err := strconv.Unquote(literal.Value)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", path.Base(pkg), spec.Names[0].Name, err)
		}
		comment := spec.Comment.Text()
		if comment == "" {
			comment = spec.Doc.Text()
		}
		all = append(all, Constant{spec.Names[0].Name, value, comment})
	}
	return all, nil
}

// specs walks the declarations of one kind.
func specs[S ast.Spec](files []*ast.File, kind token.Token) func(yield func(S, *ast.GenDecl) bool) {
	return func(yield func(S, *ast.GenDecl) bool) {
		for _, f := range files {
			for _, d := range f.Decls {
				decl, ok := d.(*ast.GenDecl)
				if !ok || decl.Tok != kind {
					continue
				}
				for _, spec := range decl.Specs {
					if s, ok := spec.(S); ok && !yield(s, decl) {
						return
					}
				}
			}
		}
	}
}
