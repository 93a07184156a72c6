package interpreter

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPythonCells(t *testing.T) {
	s := serveKernels(t)
	t.Run("a value is the main result", func(t *testing.T) {
		r := s.run("1+1")
		require.Equal(t, 200, r.status)
		require.Equal(t, "2", r.text())
		require.Equal(t, 1, r.Count)
		require.Nil(t, r.Error)
		require.Equal(t, "end_of_execution", r.last())
		require.NotEmpty(t, r.head.Get("X-Context-Id"))
		require.NotEmpty(t, r.head.Get("X-Execution-Id"))
	})
	t.Run("variables stay", func(t *testing.T) {
		r := s.run("x = 41\nprint('héllo 🌍 漢字')\nx + 1")
		require.Equal(t, "42", r.text())
		require.Equal(t, "héllo 🌍 漢字\n", r.Stdout)
		require.Equal(t, "41", s.run("x").text())
	})
	t.Run("quotes of a text are taken off", func(t *testing.T) {
		require.Equal(t, "a", s.run("'a'").text())
		require.Equal(t, "it's", s.run(`"it's"`).text())
	})
	t.Run("an error has a name, a value and a traceback in colour", func(t *testing.T) {
		r := s.run("1/0")
		require.Equal(t, "ZeroDivisionError", r.Error["name"])
		require.Equal(t, "division by zero", r.Error["value"])
		require.Contains(t, r.Error["traceback"], "\x1b[")
		require.Contains(t, r.Error["traceback"], "In[")
		require.Equal(t, "end_of_execution", r.last())
	})
	t.Run("a syntax error is an error", func(t *testing.T) {
		require.Equal(t, "SyntaxError", s.run("def").Error["name"])
	})
	t.Run("stderr is apart", func(t *testing.T) {
		r := s.run("import sys; print('out'); print('err', file=sys.stderr)")
		require.Equal(t, "out\n", r.Stdout)
		require.Equal(t, "err\n", r.Stderr)
	})
	t.Run("carriage returns and colours are kept", func(t *testing.T) {
		r := s.run("import sys; sys.stderr.write('\\r10%\\r\\x1b[31m100%\\x1b[0m\\n')")
		require.Equal(t, "\r10%\r\x1b[31m100%\x1b[0m\n", r.Stderr)
	})
	t.Run("what has a line break for some clients is escaped", func(t *testing.T) {
		require.Equal(t, "a\u2028b\u0085c\x0b\x0cd\x00e\n", s.run(`print('a\u2028b\x85c\x0b\x0cd\x00e')`).Stdout)
	})
	t.Run("half a surrogate pair is no fault", func(t *testing.T) {
		r := s.run(`print('a\ud83d|'); print('after')`)
		require.Equal(t, "a\ufffd|\nafter\n", r.Stdout)
	})
	t.Run("input says that there is nobody", func(t *testing.T) {
		require.Equal(t, "StdinNotImplementedError", s.run("input('name?')").Error["name"])
	})
	t.Run("displays keep their order and their types", func(t *testing.T) {
		r := s.run(`from IPython.display import *
display(HTML('<b>&</b>'))
display({'text/plain': 'p', 'application/x-mine': {'a': 1}, 'image/svg+xml': '<svg/>'}, raw=True)
display(Markdown('**m**'), Latex('$x$'), JSON({'n': float('nan'), 'i': float('inf'), 'l': [1]}))
'main'`)
		require.Len(t, r.Results, 6)
		require.Equal(t, "<b>&</b>", r.Results[0]["html"])
		require.Equal(t, map[string]any{"application/x-mine": map[string]any{"a": 1.0}}, r.Results[1]["extra"])
		require.Equal(t, "<svg/>", r.Results[1]["svg"])
		require.Equal(t, "**m**", r.Results[2]["markdown"])
		require.Equal(t, "$x$", r.Results[3]["latex"])
		require.Equal(t, map[string]any{"n": nil, "i": nil, "l": []any{1.0}}, r.Results[4]["json"])
		require.Equal(t, false, r.Results[4]["is_main_result"])
		require.Equal(t, true, r.Results[5]["is_main_result"])
		require.Empty(t, r.Stderr)
	})
	t.Run("a display can be updated and cleared", func(t *testing.T) {
		r := s.run(`from IPython.display import display, clear_output
h = display('one', display_id='d')
h.update('two')
clear_output(wait=True)`)
		require.Equal(t, "d", r.Results[0]["display_id"])
		require.Nil(t, r.Results[0]["update"])
		require.Equal(t, "two", r.Results[1]["text"])
		require.Equal(t, true, r.Results[1]["update"])
		require.Contains(t, r.lines, line{"type": "clear_output", "wait": true})
	})
	t.Run("a question opens a page", func(t *testing.T) {
		r := s.run("len?")
		require.Len(t, r.Results, 1)
		require.Contains(t, r.Results[0]["text"], "number of items")
	})
	t.Run("code arrives byte for byte", func(t *testing.T) {
		for _, text := range []string{"tab\there", "quote\"'\\ ", "cr\r\nlf", "\ufeff bom", "漢字🌍", "\u2028", "a\x7f"} {
			literal, _ := json.Marshal(text)
			code := "open('/dev/null').close()\nr'''" + text + "'''.encode().hex()"
			if strings.Contains(text, "\r") {
				code = string(literal) + ".encode().hex()"
			}
			r := s.run(code)
			require.Nil(t, r.Error, text)
			require.Equal(t, hexOf(text), r.text(), text)
		}
		require.Equal(t, "2", s.run("a = 1\r\nb = 1\r\na + b").text())
	})
	t.Run("what subprocesses write keeps its characters", func(t *testing.T) {
		r := s.run(`import subprocess, sys
p = subprocess.run([sys.executable, '-c', "print('漢'*5000, end='')"])`)
		require.Equal(t, strings.Repeat("漢", 5000), r.Stdout)
	})
	t.Run("streams may be replaced and closed", func(t *testing.T) {
		other := serveKernels(t)
		require.Nil(t, other.run("import sys; sys.stderr.close()").Error)
		require.Nil(t, other.run("import sys; sys.stdout = sys.__stdout__").Error)
		require.Equal(t, "2", other.run("1+1").text())
		require.Nil(t, other.run("import os; os.close(1); os.close(2)").Error)
		require.Equal(t, "2", other.run("1+1").text())
	})
	t.Run("top-level await works", func(t *testing.T) {
		require.Equal(t, "3", s.run("import asyncio\nawait asyncio.sleep(0, 3)").text())
	})
	t.Run("a fork is no fault", func(t *testing.T) {
		r := s.run("import os\npid = os.fork()\nif pid == 0:\n    os._exit(7)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
		require.Nil(t, r.Error)
		require.Equal(t, "7", r.text())
	})
	t.Run("a thread does not write into the past", func(t *testing.T) {
		r := s.run(`import threading, time
def talk():
    for i in range(30):
        print('late', i, flush=True); time.sleep(0.01)
threading.Thread(target=talk).start()
print('now')`)
		require.Contains(t, r.Stdout, "now\n")
		require.Equal(t, "end_of_execution", r.last())
		require.Equal(t, "4", s.run("2+2").text())
	})
	t.Run("a table is data, html and text", func(t *testing.T) {
		// A table by its formatters alone: pandas comes with the template.
		r := s.run(`class T:
    def _repr_e2b_data_(self): return {'a': [1, float('nan')]}
    def _repr_html_(self): return '<table></table>'
T()`)
		require.Equal(t, map[string]any{"a": []any{1.0, nil}}, r.Results[0]["data"])
		require.Equal(t, "<table></table>", r.Results[0]["html"])
		require.NotEmpty(t, r.Results[0]["text"])
		require.Empty(t, r.Stderr)
	})
	t.Run("a picture is base64", func(t *testing.T) {
		r := s.run(`from IPython.display import Image
Image(b'\x89PNG\r\n\x1a\n1234', format='png')`)
		b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.Results[0]["png"].(string), "\n", ""))
		require.NoError(t, err)
		require.Equal(t, "\x89PNG\r\n\x1a\n1234", string(b))
	})
	t.Run("nothing of ours shows", func(t *testing.T) {
		require.Equal(t, "[]", s.run("[n for n in dir() if 'sandbox' in n]").text())
		c, err := s.service.contexts.forLanguage("python")
		require.NoError(t, err)
		require.Empty(t, c.kernel.stderr.String())
	})
}

func hexOf(s string) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func TestCommandsOfACellMayWriteACharacterInPieces(t *testing.T) {
	s := serveKernels(t)
	r := s.run(`import sys
code = 'import os, time\nfor b in bytes([240, 159, 152, 128, 230, 188, 162, 240]): os.write(1, bytes([b])); time.sleep(0.07)'
get_ipython().system(f'{sys.executable} -c "exec({code!r})"')`)
	require.Equal(t, "😀漢\ufffd", r.Stdout)
	require.Empty(t, r.Error)
	require.Equal(t, "3", s.run("get_ipython().system('exit 3')\n_exit_code").text())
}
