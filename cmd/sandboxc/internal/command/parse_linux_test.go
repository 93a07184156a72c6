package command

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

func TestEnvsComeFromTheFlagOrTheShell(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"HERE": "value", "EMPTY": ""}[name]
		return v, ok
	}
	envs, err := parseEnvs([]string{"A=1", "B=", "C=x=y", "HERE", "EMPTY", "ABSENT", "A=2"}, lookup)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"A": "2", "B": "", "C": "x=y", "HERE": "value", "EMPTY": ""}, envs)
	_, err = parseEnvs([]string{"=x"}, lookup)
	require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
}

func TestMountIsReadFromTheRight(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	for text, want := range map[string]core.Mount{
		"/a:/b":        {Source: "/a", Target: "/b"},
		"/a:/b:rw":     {Source: "/a", Target: "/b", Write: true},
		"/a:/b:ro":     {Source: "/a", Target: "/b"},
		"/a:x:/b:rw":   {Source: "/a:x", Target: "/b", Write: true},
		"rel:/b":       {Source: filepath.Join(here, "rel"), Target: "/b"},
		".:/b":         {Source: here, Target: "/b"},
		"/a/../c:/b":   {Source: "/c", Target: "/b"},
		"":             {},
		"/a":           {},
		":/b":          {},
		"/a:b":         {},
		"/a:":          {},
		"/a:rw":        {},
		"/a:/b:rwx":    {},
		"/a:/b:rw:rw:": {},
	} {
		got, err := parseMount(text)
		if want == (core.Mount{}) {
			require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err), text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestCopyGoesHomeUnlessSaid(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a:b", nil, 0o600))
	here, err := os.Getwd()
	require.NoError(t, err)
	for text, want := range map[string]copying{
		"x":       {"x", "x"},
		"d/x":     {"d/x", "x"},
		"/d/x/":   {"/d/x/", "x"},
		".":       {".", filepath.Base(here)},
		"x:y":     {"x", "y"},
		"x:/y/z":  {"x", "/y/z"},
		"x:y/":    {"x", "y/x"},
		"a:b":     {"a:b", "a:b"},
		"a:b:/c":  {"a:b", "/c"},
		"x:":      {"x", "x"},
		"a:b:c:d": {"a:b:c", "d"},
	} {
		got, err := parseCopy(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "/", "/:", "/:x/"} {
		_, err := parseCopy(text)
		require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err), text)
	}
}

func TestEndpointIsASandboxOnlyWithAnID(t *testing.T) {
	for text, want := range map[string]endpoint{
		"iabc:/x":  {"iabc", "/x"},
		"iabc:":    {"iabc", ""},
		"iabc:a:b": {"iabc", "a:b"},
		"x":        {"", "x"},
		"./a:b":    {"", "./a:b"},
		"/a:b":     {"", "/a:b"},
		":x":       {"", ":x"},
		"-":        {"", "-"},
		"a b:c":    {"", "a b:c"},
	} {
		require.Equal(t, want, parseEndpoint(text), text)
	}
}

func TestDownloadLandsBesideOrInside(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("dir", 0o700))
	for _, c := range []struct{ source, target, want string }{
		{"/a/b", "", "b"},
		{"/a/b", ".", "b"},
		{"/a/b", "dir", "dir/b"},
		{"/a/b/", "dir/", "dir/b"},
		{"/a/b", "new", "new"},
		{"..", "dir", "dir/home"},
		{"a/../..", "dir", "dir/home"},
		{".", "dir", "dir/home"},
		{"/", "dir", "dir/home"},
		{"~", "dir", "dir/home"},
		{"~/x", "dir", "dir/x"},
	} {
		got, err := beside(c.source, c.target)
		require.NoError(t, err, c)
		require.Equal(t, c.want, got, c)
	}
	_, err := beside("/a", "no-such/")
	require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
}

func TestPorts(t *testing.T) {
	for text, want := range map[string][2]int{
		"80": {80, 80}, "80:81": {80, 81}, "3000:0": {3000, 0}, "65535:65535": {65535, 65535},
	} {
		inside, here, err := parsePorts(text)
		require.NoError(t, err, text)
		require.Equal(t, want, [2]int{inside, here}, text)
	}
	for _, text := range []string{"", "0", "65536", "x", "80:", ":80", "80:x", "-1", "80:81:82", "80:70000"} {
		_, _, err := parsePorts(text)
		require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err), text)
	}
}

func TestSeconds(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	d, err := seconds("x", nil)
	require.NoError(t, err)
	require.Nil(t, d)
	d, err = seconds("x", f(1.5))
	require.NoError(t, err)
	require.Equal(t, 1500*time.Millisecond, *d)
	d, err = seconds("x", f(0))
	require.NoError(t, err)
	require.Zero(t, *d)
	nan := 0.0
	for _, bad := range []float64{-1, 1e10, nan / nan} {
		_, err = seconds("x", f(bad))
		require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
	}
}

func TestQuoteIsOneWord(t *testing.T) {
	require.Equal(t, `'a b'`, quote("a b"))
	require.Equal(t, `'it'\''s $(x)'`, quote("it's $(x)"))
}

func TestCommandIsFoundAmongFlags(t *testing.T) {
	for want, args := range map[string][]string{
		"run":  {"--json", "run", "--", "x"},
		"exec": {"--provider", "local", "-q", "exec", "id"},
		"list": {"--provider=local", "list", "run"},
		"":     {"--help"},
	} {
		require.Equal(t, want, commandOf(args))
	}
	require.True(t, asksJSON([]string{"run", "--json", "--", "x"}))
	require.False(t, asksJSON([]string{"run", "--", "x", "--json"}))
}

func TestFilesAreToldFromWords(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("script.py", nil, 0o600))
	require.NoError(t, os.WriteFile("test", nil, 0o600))
	for arg, want := range map[string]bool{
		"script.py": true, "./script.py": true, "./test": true, "test": false, "-script.py": false,
		"": false, ".": false, "..": true, "/": false, "no.py": false, "a\x00.b": false,
	} {
		require.Equal(t, want, namesFile(arg), arg)
	}
}

func TestProfileNamesThePath(t *testing.T) {
	require.Contains(t, profile("/usr/local/bin/sandboxc"), `profile sandboxc "/usr/local/bin/sandboxc" flags=(unconfined)`)
	for _, path := range []string{os.TempDir() + "/go-build1/b001/exe/sandboxc", "/x/go-build12/sandboxc", "/opt/a\"b", "/opt/*"} {
		require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(installed(path)), path)
	}
	require.NoError(t, installed("/usr/local/bin/sandboxc"))
}
