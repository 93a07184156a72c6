package uri

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEscapingIsThatOfTheStandardLibrary(t *testing.T) {
	var all []byte
	for c := range 256 {
		all = append(all, byte(c))
	}
	for _, s := range []string{"", "abc", "a b+c/d?e=f&g%h", "päth/日本", string(all)} {
		require.Equal(t, strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), Escape(s))
		require.Equal(t, url.QueryEscape(s), plus(s))
	}
}

func TestAQueryIsWrittenInTheOrderOfItsNames(t *testing.T) {
	require.Equal(t, "", Query{}.Encode())
	require.Equal(t, url.Values{"b": {"x y"}, "a": {"1&2"}}.Encode(), Query{{"b", "x y"}, {"a", "1&2"}}.Encode())
}

func TestBases(t *testing.T) {
	for _, good := range []string{
		"http://h", "https://h:8080", "HTTP://h/", "https://a.b-c_d.test/x/y%20z", "http://[::1]:80", "http://[::1]", "http://127.0.0.1:1/a:b@c", "http://bücher.test", "http://h:",
	} {
		require.True(t, IsBase(good), good)
		_, err := url.Parse(good)
		require.NoError(t, err, good)
	}
	for _, bad := range []string{
		"", "h", "h:80", "//h", "http://", "http:///x", "http://:80", "ftp://h", "http://u@h", "http://u:p@h", "http://h?x", "http://h/?x=1", "http://h/#f", "http://h#f",
		"http://h h", "http://h/a b", "http://h\n", "http://h/\x00", "http://h:x", "http://h:123456", "http://[::1", "http://[]", "http://[::1]x", "http://[::1%25eth0]", "http://h/%zz", "http://h/%2", `http://h\x`, `http://h/\x`, "http:h", " http://h",
		"http://a%41", "http://h:80:80", "http://<h>",
	} {
		require.False(t, IsBase(bad), bad)
	}
}

// FuzzBase: whatever is taken for a base means the same to a URL library.
func FuzzBase(f *testing.F) {
	f.Add("https://h:8080/x")
	f.Fuzz(func(t *testing.T, s string) {
		if !IsBase(s) {
			return
		}
		u, err := url.Parse(s)
		if err != nil {
			t.Skip("the library is stricter about hosts")
		}
		require.Nil(t, u.User)
		require.Empty(t, u.RawQuery+u.Fragment)
		require.NotEmpty(t, u.Host)
	})
}

func TestDomainsAreHostNames(t *testing.T) {
	for _, good := range []string{"e2b.app", "localhost", "localhost:3001", "a_b-c.test", "xn--mnchen-3ya.de:443"} {
		require.True(t, IsDomain(good), good)
	}
	for _, bad := range []string{"", ".", "a.", "a..b", "a b", "a/b", "a@b", "a#", "a?", "a\\b", "a:b", "a:", "a:123456", "ä.de", "[::1]", "a%41", strings.Repeat("a", 64)} {
		require.False(t, IsDomain(bad), bad)
	}
}
