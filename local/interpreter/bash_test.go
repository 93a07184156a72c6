package interpreter

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBash(t *testing.T) {
	s := serveKernels(t)
	s.env["WHO"] = "me"
	in := params{"language": "bash"}
	require.Equal(t, "hi 漢 me\n", s.run("x=hi; echo $x 漢 $WHO", in).Stdout)
	require.Equal(t, "hi\n", s.run("echo $x", in).Stdout)
	t.Run("variables of a call", func(t *testing.T) {
		envs := params{"env_vars": map[string]any{"CALL": "it's $x", "WHO": "other"}}
		require.Equal(t, "it's $x other\n", s.run(`echo "$CALL $WHO"`, in, envs).Stdout)
		require.Equal(t, " me\n", s.run(`echo "$CALL $WHO"`, in).Stdout)
	})
	t.Run("a slow client loses nothing", func(t *testing.T) {
		if os.Getenv("SOAK") == "" {
			t.Skip("bash_kernel takes half a minute for it")
		}
		_, out := s.begin(t.Context(), "echo begun; for i in $(seq 4000); do echo $i "+strings.Repeat("x", 6000)+"; done", in)
		time.Sleep(9 * time.Second)
		r := rest(t, out)
		require.Equal(t, "end_of_execution", r.last())
		require.Equal(t, 4000, strings.Count(r.Stdout, "\n"))
	})
}
