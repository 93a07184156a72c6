// Command generate writes what every binding gets from the method table: types,
// errors, the plain methods, the variables that the core reads, and the schema
// of the wire. See docs/architecture.md.
//
//go:generate go run .
//go:generate python3 twin.py
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	model, err := inspect(root, method.Table())
	if err != nil {
		return err
	}
	for name, text := range outputs(model) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// outputs gives the text of every file, by its path below the module's root.
func outputs(m *Model) map[string]string {
	const js, python = "bindings/js/src/generated/", "bindings/python/src/agent_sandbox/_generated/"
	return map[string]string{
		"docs/reference.md":        reference(m),
		"wasm/schema.json":         schema(m),
		js + "convert.ts":          tsConvert(),
		js + "write.ts":            tsWrite(),
		js + "option.ts":           tsOption(),
		js + "types.ts":            tsTypes(m),
		js + "errors.ts":           tsErrors(m),
		js + "methods.ts":          tsMethods(m),
		js + "public.ts":           tsPublic(m),
		js + "variables.ts":        tsVariables(m),
		python + "__init__.py":     pyPackage(),
		python + "convert.py":      pyConvert(),
		python + "types.py":        pyTypes(m),
		python + "errors.py":       pyErrors(m),
		python + "params.py":       pyParams(m),
		python + "methods.py":      pyMethods(m, true),
		python + "methods_sync.py": pyMethods(m, false),
		python + "variables.py":    pyVariables(m),
	}
}
