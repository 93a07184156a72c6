package api

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMetadataFilterOfEveryLayer(t *testing.T) {
	want := map[string]string{"a b": "c&d", "user": "abc"}
	// As the JavaScript SDK sends it, after ordinary query decoding.
	sent, err := url.ParseQuery("metadata=a%252520b%3Dc%252526d%26user%3Dabc")
	require.NoError(t, err)
	got, err := ParseMetadata(sent.Get("metadata"))
	require.NoError(t, err)
	require.Equal(t, want, got)

	for plain, want := range map[string]map[string]string{
		"":                  nil,
		"user=abc":          {"user": "abc"},
		"user=abc&x=":       {"user": "abc", "x": ""},
		"user=a=b":          {"user": "a=b"},
		"a%20b=c%2526d":     {"a b": "c&d"},
		"k=%25E4%25BD%25A0": {"k": "你"},
	} {
		got, err := ParseMetadata(plain)
		require.NoError(t, err, plain)
		require.Equal(t, want, got, plain)
	}
	for _, bad := range []string{"user", "=x", "a=%zz", "&", "a=b&"} {
		_, err := ParseMetadata(bad)
		require.Error(t, err, bad)
	}
}

func TestListQuery(t *testing.T) {
	q, err := ParseListQuery(url.Values{"state": {"paused"}, "order": {"asc"}, "limit": {"7"}, "startedAfter": {"2026-01-02T03:04:05 02:00"}})
	require.NoError(t, err)
	require.False(t, q.Running)
	require.True(t, q.Paused)
	require.True(t, q.Ascending)
	require.Equal(t, 7, q.Limit)
	require.True(t, q.StartedAfter.Equal(time.Date(2026, 1, 2, 1, 4, 5, 0, time.UTC)))

	q, err = ParseListQuery(url.Values{})
	require.NoError(t, err)
	require.True(t, q.Running && q.Paused && !q.Ascending && q.Limit == MaxPage)

	for name, bad := range map[string]url.Values{
		"state":  {"state": {"dead"}},
		"order":  {"order": {"up"}},
		"limit0": {"limit": {"0"}},
		"limit":  {"limit": {"101"}},
		"time":   {"startedAfter": {"yesterday"}},
		"token":  {"nextToken": {"x"}},
	} {
		_, err := ParseListQuery(bad)
		require.Error(t, err, name)
	}
}

func TestCursorIsOfOneOrder(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	down := Cursor{StartedAt: at, SandboxID: "iabc"}
	up := Cursor{StartedAt: at, SandboxID: "iabc", Ascending: true}
	for _, c := range []Cursor{down, up} {
		got, err := ParseCursor(c.Token(), c.Ascending)
		require.NoError(t, err)
		require.Equal(t, c, got)
		_, err = ParseCursor(c.Token(), !c.Ascending)
		require.ErrorContains(t, err, "Invalid next token")
	}
	require.True(t, down.Before(at, "iabc"))
	require.True(t, down.Before(at.Add(1), "ia"))
	require.False(t, down.Before(at, "iabb"))
	require.True(t, up.Before(at, "iabb"))
	require.False(t, up.Before(at, "iabd"))
}

func FuzzCursor(f *testing.F) {
	f.Add(Cursor{SandboxID: "i1", Ascending: true}.Token(), true)
	f.Add("", false)
	f.Fuzz(func(t *testing.T, token string, asc bool) {
		c, err := ParseCursor(token, asc)
		if err == nil {
			again, err := ParseCursor(c.Token(), asc)
			require.NoError(t, err)
			require.True(t, again.StartedAt.Equal(c.StartedAt))
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add("a%2520b=c")
	f.Fuzz(func(_ *testing.T, filter string) { _, _ = ParseMetadata(filter) })
}

func TestIDs(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		id := NewID()
		require.Regexp(t, `^i[a-z0-9]{20}$`, id)
		require.True(t, ValidID(id))
		require.False(t, seen[id])
		seen[id] = true
	}
	for _, bad := range []string{"", "A", "a-b", "a/b", "..", "é"} {
		require.False(t, ValidID(bad), bad)
	}
	first, second := NewToken(), NewToken()
	require.NotEqual(t, first, second)
}
