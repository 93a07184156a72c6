package command

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
)

func FuzzMount(f *testing.F) {
	for _, text := range []string{"/a:/b", "/a:/b:rw", "a:b:/c:ro", ":", ":rw", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMount(text)
		if err != nil {
			return
		}
		require.True(t, filepath.IsAbs(m.Source))
		require.True(t, path.IsAbs(m.Target))
		require.NotContains(t, m.Target, ":")
		require.Equal(t, strings.HasSuffix(text, ":rw"), m.Write)
	})
}

func FuzzEndpoint(f *testing.F) {
	for _, text := range []string{"iabc:/x", "./a:b", ":", "a:b:c", "-"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e := parseEndpoint(text)
		if e.id == "" {
			require.Equal(t, text, e.path)
			return
		}
		require.Equal(t, text, e.id+":"+e.path)
		require.Empty(t, strings.Trim(e.id, idCharacters))
	})
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b[2J")
	f.Add("\xff\xfe\u009b")
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range output.Clean(text) {
			require.False(t, r < ' ' || r >= 0x7f && r < 0xa0, "%q", r)
		}
	})
}
