package setting

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestDotEnvTakesItsKeysAndMindsNothingElse(t *testing.T) {
	wanted := map[string]bool{"A": true}
	for text, want := range map[string]string{
		"A=x": "x", "A=x\nA=y": "y", "export A=x": "x", "export\tA=x": "x", "A='x # y' z": "x # y", `A="x"#y`: "x", "A=x#y": "x#y", "A=x # y": "x", "A=": "", "A=\"\"": "",
		"\ufeffA=x": "x", "A =x ": "x", "B=\"\nA=x": "x", "\x00\xff\nA=x": "x", "AA=y\nA=x": "x", "#A=y\nA=x": "x", "A=$B": "$B", "A=`id`": "`id`", "A='": "'", "A=x=y": "x=y",
	} {
		got, err := parseDotEnv([]byte(text), wanted)
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got["A"], "%q", text)
		require.NotContains(t, got, "B")
		require.NotContains(t, got, "AA")
	}
}

func TestDotEnvRefusesWhatNoSettingCanBe(t *testing.T) {
	for _, text := range []string{"A=a\x01b", "A=\xff", "A='a\tb'", "A=a\x7f"} {
		_, err := parseDotEnv([]byte(text), map[string]bool{"A": true})
		require.ErrorContains(t, err, ".env line 1", "%q", text)
	}
	_, err := parseDotEnv(make([]byte, maxDotEnv+1), nil)
	require.Error(t, err)
}

func FuzzDotEnv(f *testing.F) {
	f.Add([]byte("A=x\nexport B='y # z'\r\n#C=1"))
	f.Add([]byte("A=\"\xff"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseDotEnv(b, map[string]bool{"A": true, "B": true})
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		for k, v := range got {
			require.Contains(t, []string{"A", "B"}, k)
			require.True(t, utf8.ValidString(v))
			require.False(t, strings.ContainsAny(v, "\n\r\x00"))
		}
	})
}
