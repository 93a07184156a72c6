package attend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestPipedIsWhatSomebodyGave(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer w.Close()
	defer r.Close()
	require.True(t, Piped(r))

	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	require.True(t, Piped(file))
	require.NoError(t, file.Close())
	require.False(t, Piped(file), "closed")

	zero, err := os.Open("/dev/zero")
	require.NoError(t, err)
	defer zero.Close()
	require.True(t, Piped(zero))

	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	require.False(t, Piped(null))

	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	require.False(t, Piped(slave))
}

func TestRawIsGivenBackAndLeavesOthersAlone(t *testing.T) {
	master, slave, err := pty.Open()
	require.NoError(t, err)
	defer master.Close()
	defer slave.Close()
	restore, err := Raw(slave)
	require.NoError(t, err)
	restore()
	restore()
	restore, err = Raw(nil)
	require.NoError(t, err)
	restore()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	restore, err = Raw(r)
	require.NoError(t, err)
	restore()
	require.Equal(t, defaultSize, sizeOf(r, nil))
	require.NoError(t, pty.Setsize(master, &pty.Winsize{Cols: 5, Rows: 6}))
	size := sizeOf(r, slave)
	require.EqualValues(t, 5, size.Cols)
	require.EqualValues(t, 6, size.Rows)
}
