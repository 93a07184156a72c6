package core_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// constants are the names of a file that begin with Code.
func constants(t *testing.T, path string) (names []string) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for _, name := range spec.Names {
				if len(name.Name) > 4 && name.Name[:4] == "Code" {
					names = append(names, name.Name)
				}
			}
		}
		return true
	})
	return names
}

func TestEveryCodeIsExportedAtTheTop(t *testing.T) {
	require.ElementsMatch(t, constants(t, "fault/code.go"), constants(t, "error.go"))
}
