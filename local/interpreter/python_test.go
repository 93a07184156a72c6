package interpreter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPythonAnswers(t *testing.T) {
	s := serveKernels(t)
	r := s.run("1+1")
	require.Equal(t, 200, r.status)
	require.Equal(t, "2", r.text())
	require.Equal(t, 1, r.Count)
	require.Nil(t, r.Error)
	require.Equal(t, "end_of_execution", r.last())
	r = s.run("x = 41\nprint('héllo')\nx + 1")
	require.Equal(t, "42", r.text())
	require.Equal(t, "héllo\n", r.Stdout)
	require.Equal(t, "41", s.run("x").text())
}
