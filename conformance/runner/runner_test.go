package runner

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func value(t *testing.T, text string) any {
	var v any
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{`1`, `1`, true},
		{`1`, `2`, false},
		{`null`, `null`, true},
		{`null`, `0`, false},
		{`"a"`, `"a"`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, true},
		{`{"a":1,"b":2}`, `{"a":1}`, false},
		{`[1]`, `[1,2]`, false},
		{`[{"a":1}]`, `[{"a":1,"b":2}]`, true},
		{`{"$exact":{"a":1}}`, `{"a":1,"b":2}`, false},
		{`{"a":{"$absent":1}}`, `{}`, true},
		{`{"a":{"$absent":1}}`, `{"a":null}`, false},
		{`{"a":{"$any":1}}`, `{}`, false},
		{`{"$re":"^a"}`, `"ab"`, true},
		{`{"$re":"^a"}`, `1`, false},
		{`{"$has":"b"}`, `"abc"`, true},
		{`{"$len":2}`, `[1,2]`, true},
		{`{"$len":2}`, `"abc"`, false},
		{`{"$bytes":"x"}`, `"eA=="`, true},
		{`{"$bytes":{"repeat":["x",3]}}`, `"eHh4"`, true},
		{`{"$bytes":{"hex":"00 ff"}}`, `"AP8="`, true},
		{`{"$bytes":"x"}`, `"no base64"`, false},
		{`{"$not":1}`, `2`, true},
		{`{"$min":3}`, `2`, false},
		{`{"$max":3}`, `2`, true},
		{`{"$what":1}`, `1`, false},
	} {
		require.Equal(t, c.same, len(match(value(t, c.want), value(t, c.got), false)) == 0, "%s and %s", c.want, c.got)
	}
}

func TestTablesAreExpanded(t *testing.T) {
	cases, err := expand(value(t, `{"name":"${a} ${n} ${x}","each":[{"a":"1"},{"a":"2"}],"matrix":{"n":{"$range":[3,4]},"o":[{"x":"y","p":{"q":"${a}","$merge":{"r":"${n}"},"s":{"$unset":true}}}]},
		"calls":[{"call":"c","params":"${p}"}]}`).(map[string]any))
	require.NoError(t, err)
	require.Len(t, cases, 4)
	require.Equal(t, "1 3 y", cases[0].Name)
	require.Equal(t, "2 4 y", cases[3].Name)
	require.Equal(t, map[string]any{"q": "2", "r": 4.0}, cases[3].Calls[0].Params)
}

func TestUnknownFieldsAreRefused(t *testing.T) {
	_, err := expand(value(t, `{"name":"x","calls":[],"expcet":1}`).(map[string]any))
	require.ErrorContains(t, err, "expcet")
}

func TestCasesSpeakBothCodecs(t *testing.T) {
	cases, err := expand(value(t, `{"name":"x","peer":[{"on":"POST /a","message":{}}],"calls":[]}`).(map[string]any))
	require.NoError(t, err)
	require.Len(t, cases, 2)
	cases, err = expand(value(t, `{"name":"x","peer":[{"on":"GET /a","json":{}}],"calls":[]}`).(map[string]any))
	require.NoError(t, err)
	require.Len(t, cases, 1)
}

func TestKnownFailures(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	require.NoError(t, os.WriteFile(path, []byte("# words\n\na/b/c # because\n"), 0o600))
	known, err := KnownFailures(path)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a/b/c": "because"}, known)
}

// fake is a driver that does what a test says.
type fake func(ctx context.Context, url string, emit func(string, any)) (any, *Failure)

func (f fake) Name() string { return "fake" }

func (f fake) Open(s Setup) (Session, error) {
	var args struct {
		APIURL string `json:"api_url"`
	}
	return fakeSession{f, &args.APIURL}, json.Unmarshal(s.Arguments, &args)
}

type fakeSession struct {
	fake
	url *string
}

func (s fakeSession) Call(ctx context.Context, _ string, _ json.RawMessage, emit func(string, any)) (any, *Failure) {
	return s.fake(ctx, *s.url, emit)
}

func (s fakeSession) Close() error { return nil }

func run(t *testing.T, text string, f fake) string {
	cases, err := expand(value(t, text).(map[string]any))
	require.NoError(t, err)
	return strings.Join(Run(f, cases[0], t.TempDir()), "\n")
}

func get(url string) (string, error) {
	r, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Body.Close() }()
	b, err := io.ReadAll(r.Body)
	return string(b), err
}

func fails(text string) fake {
	return func(context.Context, string, func(string, any)) (any, *Failure) {
		return nil, &Failure{Code: "E1", Message: "m", Texts: []string{text}}
	}
}

func TestWhatIsWrongIsFound(t *testing.T) {
	fine := func(context.Context, string, func(string, any)) (any, *Failure) { return map[string]any{"a": 1}, nil }
	asks := func(_ context.Context, url string, emit func(string, any)) (any, *Failure) {
		emit("start", 1)
		_, err := get(url + "/x?y=z")
		return nil, map[bool]*Failure{true: {Code: "E1", Message: "m", Texts: []string{"m"}}}[err != nil]
	}
	peer := `"peer":[{"on":"GET /x","text":"t"}],`
	for _, c := range []struct {
		text string
		f    fake
		want string // "" = nothing is wrong
	}{
		{`{"name":"x","calls":[{"call":"c","result":{"a":1}}]}`, fine, ""},
		{`{"name":"x","calls":[{"call":"c","result":{"a":2}}]}`, fine, "want 2, got 1"},
		{`{"name":"x","calls":[{"call":"c","error":{"code":"E1"}}]}`, fine, "want an error"},
		{`{"name":"x","calls":[{"call":"c","events":[["start",1]]}]}`, fine, "events"},
		{`{"name":"x","calls":[{"call":"c","min_ms":1000}]}`, fine, "less than 1000 ms"},
		{`{"name":"x","calls":[{"call":"c"}]}`, fails("words"), "failed: words"},
		{`{"name":"x","calls":[{"call":"c","error":{"code":"E1"}}]}`, fails("words"), ""},
		{`{"name":"x","calls":[{"call":"c","error":{"code":"E2"}}]}`, fails("words"), "E2"},
		{`{"name":"x","calls":[{"call":"c","fails":true}]}`, fails("key is e2b_S3cr3t"), "a secret shows"},
		{`{"name":"x","calls":[{"call":"c","fails":true,"texts":{"has_not":["wor"]}}]}`, fails("words"), "wor"},
		{`{"name":"x",` + peer + `"calls":[{"call":"c","events":[["start",1]]}],"requests":{"all":["GET /x"],"seen":[{"on":"GET /x","target":"/x?y=z","headers":{"x-a":null}}]}}`, asks, ""},
		{`{"name":"x",` + peer + `"calls":[{"call":"c"}],"requests":{"none":true}}`, asks, "1 requests were made"},
		{`{"name":"x",` + peer + `"calls":[{"call":"c"}],"requests":{"seen":[{"on":"GET /x","headers":{"x-a":"b"}}]}}`, asks, "x-a"},
		{`{"name":"x",` + peer + `"calls":[{"call":"c"}],"requests":{"seen":[{"on":"GET /x","times":2}]}}`, asks, "want 2"},
		{`{"name":"x",` + peer + `"calls":[{"call":"c"}],"requests":{"unseen":["* /x"]}}`, asks, "should be no request"},
		{`{"name":"x","calls":[{"call":"c"}]}`, asks, "no rule answers"},
		{`{"name":"x","peer":[{"on":"GET /x","wire":[{"rst":true}]}],"calls":[{"call":"c"}]}`, asks, "failed"},
	} {
		got := run(t, c.text, c.f)
		if c.want == "" {
			require.Empty(t, got, c.text)
			continue
		}
		require.Contains(t, got, c.want, c.text)
	}
}

func TestACancelReachesTheCall(t *testing.T) {
	waits := func(ctx context.Context, _ string, emit func(string, any)) (any, *Failure) {
		emit("start", 1)
		<-ctx.Done()
		return nil, &Failure{Code: "E5006", Message: "m", Texts: []string{"m"}, Cancelled: errors.Is(ctx.Err(), context.Canceled)}
	}
	require.Empty(t, run(t, `{"name":"x","calls":[{"call":"c","cancel_after_ms":20,"error":{"cancelled":true}},{"call":"c","cancel_on":"start","error":{"cancelled":true}}]}`, waits))
}
