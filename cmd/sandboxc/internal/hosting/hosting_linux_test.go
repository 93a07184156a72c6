package hosting

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/native"
)

func TestMain(m *testing.M) {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func stateAt(t *testing.T) func(string) string {
	dir := t.TempDir()
	return func(name string) string {
		if name == "XDG_STATE_HOME" {
			return dir
		}
		return ""
	}
}

func TestKeyIsMadeOnceAndForItsOwnerAlone(t *testing.T) {
	getenv := stateAt(t)
	key, err := loadKey(getenv)
	require.NoError(t, err)
	require.Regexp(t, `^e2b_[0-9a-f]{40}$`, key)
	again, err := loadKey(getenv)
	require.NoError(t, err)
	require.Equal(t, key, again)

	path := filepath.Join(native.StateDir(getenv), keyFile)
	for name, spoil := range map[string]func() error{
		"readable by others": func() error { return os.Chmod(path, 0o644) },
		"not a key":          func() error { return os.WriteFile(path, []byte("x\n"), 0o600) },
		"a link": func() error {
			_ = os.Remove(path)
			return os.Symlink("/etc/hostname", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.Remove(path))
			_, err := loadKey(getenv)
			require.NoError(t, err)
			require.NoError(t, spoil())
			_, err = loadKey(getenv)
			require.Equal(t, fault.CodeAuthentication, fault.CodeOf(err))
			require.NotContains(t, err.Error(), "e2b_")
		})
	}
}

func TestListenPrefersTheLastPort(t *testing.T) {
	first, port, err := listen(0, 0)
	require.NoError(t, err)
	_, _, err = listen(port, 0)
	require.Equal(t, fault.CodeInvalidArgument, fault.CodeOf(err))
	other, elsewhere, err := listen(0, port)
	require.NoError(t, err)
	require.NotEqual(t, port, elsewhere)
	closeAll(first)
	again, same, err := listen(0, port)
	require.NoError(t, err)
	require.Equal(t, port, same)
	for _, l := range again {
		require.True(t, l.Addr().(*net.TCPAddr).IP.IsLoopback())
	}
	closeAll(append(other, again...))
}

func closeAll(all []net.Listener) {
	for _, l := range all {
		_ = l.Close()
	}
}

func TestServerEndsWhenNobodyUsesIt(t *testing.T) {
	getenv := stateAt(t)
	var info native.ServerInfo
	began := time.Now()
	err := Serve(context.Background(), Options{Getenv: getenv, EndAfter: 200 * time.Millisecond}, func(i native.ServerInfo) {
		info = i
		require.True(t, i.Alive(context.Background()))
		require.FileExists(t, native.StatePath(getenv, i.Build))
	})
	require.NoError(t, err)
	require.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond)
	require.NoFileExists(t, native.StatePath(getenv, info.Build))
	require.False(t, info.Alive(context.Background()))
}

func TestSecondServerIsTold(t *testing.T) {
	getenv := stateAt(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := Serve(ctx, Options{Getenv: getenv}, func(info native.ServerInfo) {
		defer cancel()
		err := Serve(ctx, Options{Getenv: getenv}, func(native.ServerInfo) { t.Error("a second server") })
		var running *RunningError
		require.ErrorAs(t, err, &running)
		require.Equal(t, info.URL, running.Info.URL)
		found, err := Live(ctx, getenv)
		require.NoError(t, err)
		require.Equal(t, info.APIKey, found.APIKey)
	})
	require.NoError(t, err)
}

func TestStateOfAKilledServerIsReplaced(t *testing.T) {
	getenv := stateAt(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const nobody = 1 << 22 // above the largest pid
	dead := native.ServerInfo{Schema: native.StateSchema, PID: nobody, URL: "http://127.0.0.1:9", APIKey: "old"}
	other := filepath.Join(native.StateDir(getenv), "server-other.json")
	require.NoError(t, native.WriteState(other, dead))
	err := Serve(ctx, Options{Getenv: getenv}, func(info native.ServerInfo) {
		require.NoFileExists(t, other)
		require.NotEqual(t, "old", info.APIKey)
		cancel()
	})
	require.NoError(t, err)
	left, err := os.ReadDir(native.StateDir(getenv))
	require.NoError(t, err)
	for _, e := range left {
		require.False(t, strings.HasPrefix(e.Name(), "server"), e.Name())
	}
}

func TestTransientServerLeavesNoState(t *testing.T) {
	getenv := stateAt(t)
	s, err := Transient(context.Background(), Options{Getenv: getenv})
	require.NoError(t, err)
	info := s.Info()
	require.True(t, info.Alive(context.Background()))
	require.NoError(t, s.Close())
	require.NoFileExists(t, filepath.Join(native.StateDir(getenv), keyFile))
	require.Nil(t, native.ReadState(native.StatePath(getenv, info.Build)))
}

func TestOpenStateDirectoryIsClosed(t *testing.T) {
	getenv := stateAt(t)
	require.NoError(t, os.MkdirAll(native.StateDir(getenv), 0o755))
	_, err := loadKey(getenv)
	require.NoError(t, err)
	info, err := os.Stat(native.StateDir(getenv))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestServerGetsNoCredentialsOfOthers(t *testing.T) {
	t.Setenv("E2B_API_KEY", "secret")
	t.Setenv("SANDBOX_API_KEY", "secret")
	t.Setenv("HTTPS_PROXY", "http://proxy.example:1")
	require.Contains(t, environment(), "HTTPS_PROXY=http://proxy.example:1")
	require.NotContains(t, strings.Join(environment(), "\n"), "secret")
}
