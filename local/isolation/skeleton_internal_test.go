//go:build linux

package isolation

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestCredentialsAreCutOutOfURLs(t *testing.T) {
	for in, want := range map[string]string{
		"deb https://user:pass@host/debian stable main":   "deb https://host/debian stable main",
		"deb [x=y] http://token@host:8080/debian a b":     "deb [x=y] http://host:8080/debian a b",
		"URIs: https://a:b@h1/ https://c:d@h2/":           "URIs: https://h1/ https://h2/",
		"Acquire::http::Proxy \"http://u:p@proxy:3128\";": "Acquire::http::Proxy \"http://proxy:3128\";",
		"deb https://host/path@1.0/ stable":               "deb https://host/path@1.0/ stable",
		"mail me@example.com":                             "mail me@example.com",
		"index-url = https://__token__:pypi-abc@h/s":      "index-url = https://h/s",
	} {
		require.Equal(t, want, string(withoutCredentials([]byte(in))))
	}
}

func TestSkeletonHasNoSecret(t *testing.T) {
	s, err := openSkeleton(filepath.Join(t.TempDir(), "skeleton"), Ordinary)
	require.NoError(t, err)
	defer s.close()
	began := time.Now()
	dir, err := s.dir()
	require.NoError(t, err)
	t.Log("made in", time.Since(began))
	for _, gone := range []string{"etc/ssl/private", "etc/apt/auth.conf", "etc/apt/auth.conf.d", "etc/ssh", "etc/sudoers", "etc/machine-id.host"} {
		require.NoFileExists(t, filepath.Join(dir, gone))
		require.NoDirExists(t, filepath.Join(dir, gone))
	}
	shadow, err := os.ReadFile(filepath.Join(dir, "etc/shadow"))
	require.NoError(t, err)
	require.Equal(t, written["etc/shadow"], string(shadow))
	again, err := s.dir()
	require.NoError(t, err)
	require.Equal(t, dir, again)
}

func TestSkeletonIsFoundAgainAndOldOnesSwept(t *testing.T) {
	base := filepath.Join(t.TempDir(), "skeleton")
	require.NoError(t, os.MkdirAll(filepath.Join(base, "old"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(base, "old.lock"), nil, 0o600))
	var made []string
	for range 2 {
		s, err := openSkeleton(base, Ordinary)
		require.NoError(t, err)
		dir, err := s.dir()
		require.NoError(t, err)
		made = append(made, dir)
		s.close()
	}
	require.Equal(t, made[0], made[1])
	require.NoDirExists(t, filepath.Join(base, "old"))
}

func TestIDRangesAreDistinct(t *testing.T) {
	r := newIDRanges()
	seen := map[int]bool{}
	for range 50 {
		x, err := r.take()
		require.NoError(t, err)
		defer x.free()
		require.False(t, seen[x.base])
		require.GreaterOrEqual(t, x.base, firstID)
		require.Less(t, x.base+rangeLen, 0x7fffffff)
		seen[x.base] = true
	}
}

func TestRefusalNamesTheSetting(t *testing.T) {
	require.Equal(t, os.ErrClosed, refusal(os.ErrClosed, Root))
	var r *RefusedError
	require.ErrorAs(t, refusal(os.NewSyscallError("clone", unix.ENOSPC), Ordinary), &r)
	require.Equal(t, settingMax, r.Setting)
	require.Contains(t, r.Error(), "sysctl")
	require.ErrorAs(t, refusal(os.NewSyscallError("clone", unix.EPERM), Ordinary), &r)
	require.NotEmpty(t, r.Fix)
	require.ErrorIs(t, r, unix.EPERM)
}

func TestRefusedFixForEachSetting(t *testing.T) {
	values := map[string]int{}
	read := func(name string) int {
		if v, ok := values[name]; ok {
			return v
		}
		return -1
	}
	for setting, value := range map[string]int{settingMax: 0, settingClone: 0, settingAppArmor: 1} {
		clear(values)
		values[setting] = value
		var r *RefusedError
		require.ErrorAs(t, explain(unix.EPERM, Ordinary, read), &r)
		require.Equal(t, setting, r.Setting)
		require.Contains(t, r.Fix, setting)
	}
}
