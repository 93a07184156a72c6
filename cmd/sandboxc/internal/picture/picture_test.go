package picture

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTerminalDecides(t *testing.T) {
	for env, want := range map[string]Protocol{
		"TERM=xterm-256color": None, "TERM=xterm-kitty": Kitty, "KITTY_WINDOW_ID=1": Kitty, "TERM_PROGRAM=ghostty": Kitty,
		"TERM_PROGRAM=iTerm.app": ITerm, "TERM_PROGRAM=WezTerm": ITerm, "LC_TERMINAL=iTerm2": ITerm, "": None,
		"TERM=xterm-kitty TMUX=/tmp/x": None, "TERM_PROGRAM=iTerm.app STY=1.x": None,
	} {
		require.Equal(t, want, ProtocolOf(func(name string) string {
			for _, item := range strings.Fields(env) {
				if value, ok := strings.CutPrefix(item, name+"="); ok {
					return value
				}
			}
			return ""
		}), env)
	}
}

func TestAPictureIsCutForKitty(t *testing.T) {
	picture := bytes.Repeat([]byte{0x89, 1, 2}, 3000)
	var out bytes.Buffer
	require.NoError(t, Kitty.Show(&out, picture))
	sequences := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\x1b\\")
	sequences = sequences[:len(sequences)-1]
	var all string
	for i, s := range sequences {
		head, text, ok := strings.Cut(s, ";")
		require.True(t, ok)
		require.LessOrEqual(t, len(text), mostAtOnce)
		require.Equal(t, i == 0, strings.Contains(head, "a=T,f=100"), head)
		require.Equal(t, i < len(sequences)-1, strings.HasSuffix(head, "m=1"), head)
		all += text
	}
	got, err := base64.StdEncoding.DecodeString(all)
	require.NoError(t, err)
	require.Equal(t, picture, got)
}

func TestAPictureIsOneSequenceForITerm(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, ITerm.Show(&out, []byte("abc")))
	require.Equal(t, "\x1b]1337;File=inline=1;size=3:YWJj\a\n", out.String())
	require.True(t, ITerm.Takes("jpeg"))
	require.False(t, Kitty.Takes("jpeg"))
	require.False(t, None.Takes("png"))
}
