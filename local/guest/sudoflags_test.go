//go:build linux

package guest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSudoFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want sudoOptions
	}{
		"plain":             {[]string{"id", "-u"}, sudoOptions{user: "root", command: []string{"id", "-u"}}},
		"user":              {[]string{"-u", "www-data", "id"}, sudoOptions{user: "www-data", command: []string{"id"}}},
		"user joined":       {[]string{"-uuser", "id"}, sudoOptions{user: "user", command: []string{"id"}}},
		"user long":         {[]string{"--user=user", "id"}, sudoOptions{user: "user", command: []string{"id"}}},
		"user long apart":   {[]string{"--user", "user", "id"}, sudoOptions{user: "user", command: []string{"id"}}},
		"many":              {[]string{"-nEH", "id"}, sudoOptions{user: "root", keep: true, command: []string{"id"}}},
		"combined":          {[]string{"-Hu", "user", "id"}, sudoOptions{user: "user", command: []string{"id"}}},
		"end of flags":      {[]string{"--", "-x"}, sudoOptions{user: "root", command: []string{"-x"}}},
		"variables":         {[]string{"A=b", "C=", "env", "D=e"}, sudoOptions{user: "root", variables: []string{"A=b", "C="}, command: []string{"env", "D=e"}}},
		"login":             {[]string{"-i"}, sudoOptions{user: "root", login: true, command: []string{}}},
		"shell":             {[]string{"-s", "a b"}, sudoOptions{user: "root", shell: true, command: []string{"a b"}}},
		"path with = first": {[]string{"./a=b"}, sudoOptions{user: "root", command: []string{"./a=b"}}},
	} {
		got, done, err := parseSudo(c.args)
		require.NoError(t, err, name)
		require.False(t, done, name)
		require.Equal(t, c.want, *got, name)
	}
	for _, args := range [][]string{{"-u"}, {"-Z", "x"}, {"--nope", "x"}, {"--user"}} {
		_, _, err := parseSudo(args)
		require.Error(t, err, args)
	}
	for _, args := range [][]string{{"-v"}, {"-k"}, {"-K"}} {
		_, done, err := parseSudo(args)
		require.NoError(t, err)
		require.True(t, done, args)
	}
}

func FuzzSudoFlags(f *testing.F) {
	f.Add("-u", "root", "id")
	f.Add("--user=x", "-i", "--")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		o, _, err := parseSudo([]string{a, b, c})
		require.Equal(t, err == nil, o != nil)
	})
}

func TestShellQuoting(t *testing.T) {
	require.Equal(t, `'a'\''b $x'`, quote("a'b $x"))
}
