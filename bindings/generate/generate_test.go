package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

func inspected(t *testing.T, table ...method.Method) (*Model, error) {
	t.Helper()
	root, err := moduleRoot()
	require.NoError(t, err)
	return inspect(root, table)
}

func written(t *testing.T, table []method.Method) map[string]string {
	t.Helper()
	m, err := inspected(t, table...)
	require.NoError(t, err)
	return outputs(m)
}

// place writes the files of one language into a directory.
func place(t *testing.T, files map[string]string, folder, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		if strings.HasPrefix(name, folder) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text), 0o644))
		}
	}
}

func python(t *testing.T, dir string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), "PYTHONPATH="+dir, "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestANewMethodCanBeCalledFromPythonWithoutAnotherLine(t *testing.T) {
	dir := t.TempDir()
	place(t, written(t, boxes()), "bindings/python/", filepath.Join(dir, "made"))
	python(t, dir, "testdata/methods.py")
}

func TestErrorsOfPythonAreWhatAUserWouldCatch(t *testing.T) {
	dir := t.TempDir()
	place(t, written(t, boxes()), "bindings/python/", filepath.Join(dir, "made"))
	python(t, dir, "testdata/errors.py")
}

func TestTheBlockingTwinOfPythonSources(t *testing.T) {
	python(t, ".", "-m", "unittest", "-q", "twin_test")
}

func TestANewMethodCanBeCalledFromJavaScriptWithoutAnotherLine(t *testing.T) {
	tools, err := filepath.Abs("../js/node_modules")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(tools, ".bin/esbuild")); err != nil {
		t.Skip("the tools of bindings/js are not installed")
	}
	dir := t.TempDir()
	place(t, written(t, boxes()), "bindings/js/", filepath.Join(dir, "made"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "command_result.ts"), []byte("export type CommandResult = string\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "execution.ts"), []byte("export type Execution = string\n"), 0o644))
	script, err := os.ReadFile("testdata/methods.ts")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "methods.ts"), script, 0o644))
	bundle := filepath.Join(dir, "methods.mjs")
	for _, args := range [][]string{
		{
			filepath.Join(tools, ".bin/tsc"), "--noEmit", "--skipLibCheck", "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noImplicitOverride", "--target", "es2022",
			"--module", "esnext", "--moduleResolution", "bundler", "--allowImportingTsExtensions", "--types", "node", "--typeRoots", filepath.Join(tools, "@types"), filepath.Join(dir, "methods.ts"),
		},
		{filepath.Join(tools, ".bin/esbuild"), "--bundle", "--platform=node", "--format=esm", "--log-level=error", "--outfile=" + bundle, filepath.Join(dir, "methods.ts")},
		{"node", bundle},
	} {
		out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
		require.NoError(t, err, "%s: %s", args[0], out)
	}
}

func TestTheSchemaDescribesANewMethod(t *testing.T) {
	var got struct {
		Methods map[string]struct {
			Shape  string
			Errors []string
			Params struct {
				Properties map[string]struct {
					Type                any
					Format, Description string
				}
				Required []string
			}
			Result map[string]any
		}
		Errors    map[string]struct{ Class string }
		Variables []string
		Defs      map[string]json.RawMessage `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal([]byte(written(t, boxes())["wasm/schema.json"]), &got))
	pack := got.Methods["boxes.pack"]
	require.Equal(t, "plain", pack.Shape)
	require.Equal(t, []string{"E4001", "E4003", "E2005"}, pack.Errors)
	require.Equal(t, []string{"name"}, pack.Params.Required)
	require.Equal(t, "integer", pack.Params.Properties["wait_ms"].Type)
	require.Equal(t, "date-time", pack.Params.Properties["since"].Format)
	require.Equal(t, "Of the box", pack.Params.Properties["name"].Description)
	require.Equal(t, "#/$defs/Box", pack.Result["$ref"])
	require.Equal(t, "null", got.Methods["boxes.open"].Result["type"])
	for _, name := range []string{"Box", "Label", "Colour", "Client", "Handle", "Error"} {
		require.Contains(t, got.Defs, name)
	}
	require.Equal(t, "SandboxNotFoundError", got.Errors["E2005"].Class)
	require.Contains(t, got.Variables, "E2B_API_KEY")
}

func TestTheSameTableGivesTheSameFiles(t *testing.T) {
	first := written(t, boxes())
	for range 5 {
		require.Equal(t, first, written(t, boxes()))
	}
}

// Every method and parameter that users meet has words.
func TestTheTableIsDocumented(t *testing.T) {
	m, err := inspected(t, method.Table()...)
	require.NoError(t, err)
	require.NotEmpty(t, m.Methods)
	for _, one := range m.Methods {
		require.NotEmpty(t, one.Doc.Text, one.Name)
		for _, p := range one.Params {
			require.NotEmpty(t, p.Doc, "%s %s", one.Name, p.Wire)
		}
	}
}

type (
	undocumented struct {
		X int `json:"x"` // it
	}
)

// NoFieldComment has a field without words.
type NoFieldComment struct {
	X int `json:"x"`
}

// HasBytes has bytes.
type HasBytes struct {
	X []byte `json:"x"` // bytes
}

// HasDuration has a duration.
type HasDuration struct {
	X struct{ Y int } `json:"x"` // no named type
}

// HidesSignal hides an option.
type HidesSignal struct {
	Signal string `json:"signal"` // hidden
}

// Broken has a duration that is no integer.
type Broken struct {
	X string `json:"x_ms"` // soon
}

// Untagged has a field without a name on the wire.
type Untagged struct {
	X int // it
}

func TestATableThatCannotBeServedIsRefused(t *testing.T) {
	for want, table := range map[string]method.Method{
		"has no doc comment":       entry[undocumented]("a.b", method.Plain, nil),
		"parameter x has no":       entry[NoFieldComment]("a.b", method.Plain, nil),
		"bytes do not travel":      entry[HasBytes]("a.b", method.Plain, nil),
		"has a named type":         entry[HasDuration]("a.b", method.Plain, nil),
		"hides what every":         entry[HidesSignal]("a.b", method.Plain, nil),
		"a duration is an integer": entry[Broken]("a.b", method.Plain, nil),
		"has no json name":         entry[Untagged]("a.b", method.Plain, nil),
		"is class.member":          entry[BoxesCount]("ab", method.Plain, nil),
		"are a named struct":       {Name: "a.b", Params: reflect.TypeFor[string]()},
		"no place on the wire":     entry[BoxesCount]("a.b", method.Plain, reflect.TypeFor[func()]()),
	} {
		_, err := inspected(t, table)
		require.ErrorContains(t, err, want)
	}
}

func TestThePageOfErrorsNamesEveryClass(t *testing.T) {
	m, err := inspected(t)
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/errors.md")
	require.NoError(t, err)
	for _, e := range m.Errors {
		if e.Code >= "E6000" && e.Code < "E8000" || e.Code == "E2004" || e.Code == "E3003" {
			continue // nothing gives them yet
		}
		require.Contains(t, string(page), "| "+e.Code+" | "+e.Name+" |")
	}
}

func TestTheReferenceListsANewMethodInBothSpellings(t *testing.T) {
	page := written(t, boxes())["docs/reference.md"]
	for _, words := range []string{
		"### boxes.pack", "| `max_weight` | `maxWeight` | `float`, `number`, optional | In kg |", "| *`name`* | *`name`* | `str`, `string` | Of the box |",
		"| `wait` | `waitMs` |", "Gives `list[Box]` · `Box[]`.", "- `PathKindError` (E4003): wrong kind of path", "### Label", "`red`, `dark-blue`",
	} {
		require.Contains(t, page, words)
	}
}
