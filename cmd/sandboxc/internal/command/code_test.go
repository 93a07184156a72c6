package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/picture"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// kernel is a code interpreter that answers what it is told.
func kernel(t *testing.T, answer string) *native.Sandbox {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(server.Close)
	client, err := native.NewClient(context.Background(), native.Options{
		Arguments: setting.Arguments{Provider: "e2b", APIKey: "k", APIURL: server.URL, SandboxURL: server.URL},
		Getenv:    func(string) string { return "" }, Dir: t.TempDir(), Proxy: "direct",
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	sbx, err := client.Open(&handle.Handle{Provider: "e2b", SandboxID: "i1", Domain: "example.test", URLs: handle.URLs{Sandbox: server.URL}})
	require.NoError(t, err)
	return sbx
}

// shown is a job whose output is kept.
func shown(t *testing.T, asJSON bool) (j *codeJob, out, errs *bytes.Buffer) {
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	signals := attend.Listen()
	t.Cleanup(signals.Stop)
	app := &App{Printer: &output.Printer{Out: out, Err: errs, JSON: asJSON}, ctx: context.Background(), signals: signals}
	show := &show{app: app, out: out, err: errs, plainOut: true, plainErr: true}
	if asJSON {
		show.out, show.err = io.Discard, io.Discard
	}
	return &codeJob{app: app, show: show, options: core.CodeOptions{}}, out, errs
}

const answered = `{"type": "number_of_executions", "execution_count": 4}
{"type": "stdout", "text": "printed"}
{"type": "stderr", "text": "warned\n"}
{"type": "result", "text": "<Figure>", "png": "QUJD", "chart": {"type": "bar", "title": "T", "elements": []}, "extra": {"a/b": 1}}
{"type": "result", "text": "\u001b[33m5\u001b[0m", "is_main_result": true}
{"type": "end_of_execution"}
`

func TestCodeIsShownAsItComes(t *testing.T) {
	j, out, errs := shown(t, false)
	require.NoError(t, j.in(kernel(t, answered)))
	require.Equal(t, "printed\n<Figure>\n5\n", out.String())
	require.Equal(t, "warned\na picture (png): -o DIR saves it\n", errs.String())
}

func TestCodeOfAFileIsWithoutItsMark(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.py")
	require.NoError(t, os.WriteFile(file, []byte("\xef\xbb\xbfprint(1)\r\n\ufeff"), 0o600))
	text, err := (&Code{File: file}).text()
	require.NoError(t, err)
	require.Equal(t, "print(1)\r\n\ufeff", text)
}

func TestAPictureIsShownWhereTheTerminalCan(t *testing.T) {
	j, out, _ := shown(t, false)
	j.show.pictures = picture.ITerm
	require.NoError(t, j.in(kernel(t, answered)))
	require.Equal(t, "printed\n\x1b]1337;File=inline=1;size=3:QUJD\a\n5\n", out.String())
}

func TestResultsAreSaved(t *testing.T) {
	j, _, _ := shown(t, false)
	j.show.dir = t.TempDir()
	require.NoError(t, j.in(kernel(t, answered)))
	for name, want := range map[string]string{
		"result-1.png": "ABC", "result-1.txt": "<Figure>", "result-1.chart.json": `{"type":"bar","title":"T","elements":[]}`,
		"result-1.extra.json": `{"a/b":1}`, "result-2.txt": "\x1b[33m5\x1b[0m",
	} {
		b, err := os.ReadFile(filepath.Join(j.show.dir, name))
		require.NoError(t, err)
		require.Equal(t, want, string(b), name)
	}
	require.Len(t, j.show.files, 5)
}

func TestAnErrorOfTheCodeIsItsTracebackAndAnExitCode(t *testing.T) {
	j, out, errs := shown(t, false)
	err := j.in(kernel(t, `{"type": "error", "name": "E", "value": "v", "traceback": "\u001b[31mtrace\u001b[0m"}{"type": "end_of_execution"}`))
	var status output.Status
	require.ErrorAs(t, err, &status)
	require.Equal(t, output.ExitGeneral, int(status))
	require.Empty(t, out.String())
	require.Equal(t, "trace\n", errs.String())
}

func TestJSONIsOneObject(t *testing.T) {
	j, out, errs := shown(t, true)
	require.NoError(t, j.in(kernel(t, answered)))
	var got map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &got))
	require.Equal(t, "printed", got["stdout"])
	require.Equal(t, "warned\n", got["stderr"])
	require.InDelta(t, 4, got["execution_count"], 0)
	require.Len(t, got["results"], 2)
	require.Empty(t, errs.String())
}

func TestCodeIsReadUntilItIsWhole(t *testing.T) {
	for input, want := range map[string][]string{
		"x = 1\ny\n":                             {"x = 1", "y"},
		"for i in x:\n  print(i)\n\nz\n":         {"for i in x:\n  print(i)\n", "z"},
		"f(1,\n2)\nz\n":                          {"f(1,\n2)", "z"},
		"x = '''a\n(\n'''\nz\n":                  {"x = '''a\n(\n'''", "z"},
		"x = 'a#(' # (\nz\n":                     {"x = 'a#(' # (", "z"},
		"x = {\n}\n":                             {"x = {\n}"},
		"@d\ndef f():\n  pass\n\nz":              {"@d\ndef f():\n  pass\n", "z"},
		"x = 1 + \\\n2\nz\n":                     {"x = 1 + \\\n2", "z"},
		"a[1:]\n":                                {"a[1:]"},
		"'''never closed\n":                      {"'''never closed"},
		"\r\n\n":                                 {"", ""},
		"if a:\n  x = (\n\n  1)\n  y = 2\n\nz\n": {"if a:\n  x = (\n\n  1)\n  y = 2\n", "z"},
	} {
		in := &plainLines{bufio.NewReader(strings.NewReader(input))}
		var got []string
		for {
			code, err := readCode(in, true)
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			got = append(got, code)
		}
		require.Equal(t, want, got, "%q", input)
	}
}

func TestControlCAbandonsALine(t *testing.T) {
	k := &keys{from: strings.NewReader("ab\x03")}
	b, err := io.ReadAll(io.LimitReader(k, 4))
	require.NoError(t, err)
	require.Equal(t, "ab\x15\r", string(b))
	require.True(t, k.abandoned)
}

func TestCodeFlagsThatExcludeEachOther(t *testing.T) {
	text := "x"
	for name, c := range map[string]Code{
		"context without sandbox":     {Command: &text, Context: "c"},
		"context and language":        {Command: &text, Context: "c", Sandbox: "i", Language: "r"},
		"code and a file":             {Command: &text, File: "f"},
		"code and a prompt":           {Command: &text, REPL: true},
		"an old sandbox and template": {Command: &text, Sandbox: "i", Making: Making{Template: "t"}},
	} {
		j, _, _ := shown(t, false)
		_, err := c.job(j.app)
		require.Error(t, err, name)
	}
}
