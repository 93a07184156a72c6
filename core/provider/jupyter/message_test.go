package jupyter

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMessageIsReadAsItWasWritten(t *testing.T) {
	for _, f := range []framing{wholeJSON, parts} {
		isBinary, b, err := f.write(&request{Channel: "shell", Header: header{ID: "m", Type: "execute_request"}, Content: map[string]string{"code": "é"}, Buffers: []string{}})
		require.NoError(t, err)
		require.Equal(t, f == parts, isBinary)
		m, err := f.read(isBinary, b)
		require.NoError(t, err)
		require.Equal(t, "shell", m.Channel)
		require.Equal(t, "execute_request", m.Header.Type)
		require.JSONEq(t, `{"code":"é"}`, string(m.Content))
	}
}

func TestBuffersBehindAMessageAreLeft(t *testing.T) {
	pieces := [][]byte{[]byte("iopub"), []byte(`{"msg_type":"t"}`), []byte(`{"msg_id":"p"}`), []byte(`{}`), []byte(`{"a":NaN}`), {0, 1, 2}}
	m, err := parts.read(true, table(pieces))
	require.NoError(t, err)
	require.Equal(t, "p", m.Parent.ID)
	require.Equal(t, `{"a":null}`, string(m.Content))
	text := `{"channel":"iopub","header":{"msg_type":"t"}}`
	whole := append([]byte{0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, byte(12 + len(text))}, text+"xyz"...)
	m, err = wholeJSON.read(true, whole)
	require.NoError(t, err)
	require.Equal(t, "t", m.Header.Type)
}

func FuzzMessagesThatAreNoneAreRefused(f *testing.F) {
	f.Add(table([][]byte{[]byte("iopub"), []byte(`{}`), []byte(`{}`), []byte(`{}`), []byte(`{}`)}))
	f.Add([]byte{0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 1})
	f.Add([]byte(`{"content":{"x":Infinity}}`))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, one := range []framing{wholeJSON, parts} {
			for _, isBinary := range []bool{false, true} {
				if m, err := one.read(isBinary, b); err == nil && len(m.Content) > 0 {
					require.True(t, json.Valid(m.Content), "%s", m.Content)
				}
			}
		}
	})
}

func TestAKernelIsFoundByItsNameAndByItsLanguage(t *testing.T) {
	var s specs
	require.NoError(t, json.Unmarshal([]byte(`{"default":"py-b","kernelspecs":{"ir":{"spec":{"language":"R"}},"py-a":{"spec":{"language":"python"}},
		"py-b":{"spec":{"language":"python"}},"deno":{"spec":{"language":"typescript"}},"odd":{"spec":{}}}}`), &s))
	for asked, want := range map[string]string{
		"python": "py-b", "py": "py-b", "py-a": "py-a", "r": "ir", "typescript": "deno", "ts": "deno", "javascript": "deno", "js": "deno", "odd": "odd", "java": "", "": "",
	} {
		require.Equal(t, want, s.find(asked), asked)
	}
}
