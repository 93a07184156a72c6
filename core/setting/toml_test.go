package setting

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/stretchr/testify/require"
)

// theirs reads with a real TOML library and flattens as we do; false when the
// document has anything that we do not take.
func theirs(text string) (flat map[string]string, valid bool) {
	var doc map[string]any
	if _, err := toml.Decode(text, &doc); err != nil {
		return nil, false
	}
	flat = map[string]string{}
	flatten(flat, "", doc)
	return flat, true
}

func flatten(flat map[string]string, prefix string, table map[string]any) {
	for k, v := range table {
		switch v := v.(type) {
		case map[string]any:
			flatten(flat, prefix+k+".", v)
		case string:
			flat[prefix+k] = v
		case int64:
			flat[prefix+k] = strconv.FormatInt(v, 10)
		case bool:
			flat[prefix+k] = strconv.FormatBool(v)
		default:
			flat[prefix+k] = fmt.Sprintf("%T", v)
		}
	}
}

var goodTOML = []string{
	"", "\n\n", "# only words", "a = 1", "a=1\n", "a = 1 # words", "a = \"x\"\r\nb = 'y'\r\n", "\ta\t=\ttrue", "a = -7", "a = +7", "a = 1_000", "a = 0", "a = -0",
	`a = "q\"b\\t\tn\nu\u00e9U\U0001f600"`, `a = 'no \ escapes'`, `a = ""`, "[t]\na = 1", "[t]\n[t.u]\nb = 'x'", "[ t . u ]\na = 1", "t.u = 1\nt.v = 2",
	`"a b" = 1`, `'a' = 1`, "-_1 = 1", "1 = 1", "a = \"#\" # c", "[profile.work]\napi_key = \"k\"", "a = \"é😀\"", "a = 9223372036854775807",
}

var badTOML = []string{
	"a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "[t]\n[t]", "[t", "[t] x", "[]", "[[t]]", "a = [1]", "a = 1.5", "a = 2026-01-01", "a = {b=1}",
	`a = """x"""`, "a = '''x'''", `a = "x`, `a = "\q"`, `a = "\u12"`, `a = "\ud800"`, "a = \"\x01\"", "a = 01", "a = 1__0", "a = _1", "a = 1_", "a = tru", "a.b.c",
	"a = \"x\" y", "\x00", "# \x01", "a = \xff", "a = 9223372036854775808", "a b = 1", "a = 1\n[a]", "[a]\nb=1\n[a.b]", "a..b = 1", `"a.b" = 1`, "a = \"x\ny\"",
	"a.b = 1\na = 2", "a = 1\na.b = 2", "[a.b]\n[a]\nb = 1",
}

func TestTOMLAgreesWithARealReader(t *testing.T) {
	for _, text := range goodTOML {
		want, valid := theirs(text)
		require.True(t, valid, "%q", text)
		got, err := parseTOML([]byte(text))
		require.NoError(t, err, "%q", text)
		require.Equal(t, want, got, "%q", text)
	}
}

func TestTOMLRefusesTheRestByLineAndColumn(t *testing.T) {
	for _, text := range badTOML {
		_, err := parseTOML([]byte(text))
		require.Error(t, err, "%q", text)
	}
	_, err := parseTOML([]byte("a = 1\nb = 1.5\n"))
	require.ErrorContains(t, err, "config.toml line 2, column 5: ")
}

func TestTOMLErrorsShowNoValue(t *testing.T) {
	for _, text := range []string{`api_key = "s3cr3t`, `api_key = s3cr3t`, "api_key = \"s3cr3t\" x", "api_key = 's3cr3t'\napi_key = 's3cr3t'", "s3cr3t"} {
		_, err := parseTOML([]byte(text))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "s3cr3t")
	}
}

func FuzzTOML(f *testing.F) {
	for _, text := range append(goodTOML, badTOML...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseTOML([]byte(text))
		if err != nil {
			return
		}
		want, valid := theirs(strings.TrimPrefix(text, "\ufeff"))
		require.True(t, valid, "we take what no TOML reader takes: %q", text)
		require.Equal(t, want, got, "%q", text)
	})
}
