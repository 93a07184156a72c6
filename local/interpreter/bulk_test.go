package interpreter

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMuchOutputIsComplete(t *testing.T) {
	s := serveKernels(t)
	s.run("1")
	timed := func(t *testing.T, code string) *run {
		began := time.Now()
		r := s.run(code)
		t.Log(time.Since(began))
		require.Nil(t, r.Error)
		require.Equal(t, "end_of_execution", r.last())
		return r
	}
	t.Run("20 MB in lines", func(t *testing.T) {
		r := timed(t, "for i in range(200_000): print(f'{i:099d}')")
		require.Len(t, r.Stdout, 20_000_000)
		for i := range 200_000 {
			if r.Stdout[100*i:100*i+99] != fmt.Sprintf("%099d", i) {
				t.Fatal("line", i, "is wrong")
			}
		}
	})
	t.Run("100,000 small prints", func(t *testing.T) {
		r := timed(t, "for i in range(100_000): print(i)")
		require.Equal(t, 100_000, strings.Count(r.Stdout, "\n"))
		require.True(t, strings.HasPrefix(r.Stdout, "0\n1\n2\n"))
		require.True(t, strings.HasSuffix(r.Stdout, "\n99998\n99999\n"))
	})
	t.Run("one line of 5 MB", func(t *testing.T) {
		require.Equal(t, strings.Repeat("x", 5_000_000)+"\n", timed(t, "print('x' * 5_000_000)").Stdout)
	})
	t.Run("5 MB beyond ASCII", func(t *testing.T) {
		require.Equal(t, strings.Repeat("漢🌍", 700_000)+"\n", timed(t, "print('漢🌍' * 700_000)").Stdout)
	})
	t.Run("a picture of 20 MB", func(t *testing.T) {
		r := timed(t, "import os\nfrom IPython.display import Image\ndata = os.urandom(20_000_000)\nImage(data, format='png')")
		b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(r.Results[0]["png"].(string), "\n", ""))
		require.NoError(t, err)
		require.Len(t, b, 20_000_000)
	})
	t.Run("many prints, each sent at once", func(t *testing.T) {
		// Each takes the kernel's two threads half a millisecond, whoever reads.
		const count = 3000
		r := timed(t, fmt.Sprintf("for i in range(%d): print(i, flush=True)", count))
		require.Equal(t, count, strings.Count(r.Stdout, "\n"))
		require.True(t, strings.HasSuffix(r.Stdout, fmt.Sprintf("\n%d\n", count-1)))
	})
}

func TestASlowClientSlowsTheKernel(t *testing.T) {
	s := serveKernels(t)
	s.run("import re")
	// Far more than all buffers on the way hold.
	_, in := s.begin(t.Context(), "print('begun', flush=True)\nfor i in range(200): print('x' * 1_000_000)\nint(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1])")
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	require.Less(t, now.HeapAlloc, uint64(100<<20), "nothing piles up here")
	r, total := &run{}, 0
	for {
		raw, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			total += len(raw)
			raw, err = in.ReadSlice('\n')
		}
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if total += len(raw); raw[0] == '{' {
			require.NoError(t, r.read(bytes.NewReader(raw)))
		}
	}
	require.Greater(t, total, 200_000_000)
	var peak int
	_, err := fmt.Sscan(r.text(), &peak)
	require.NoError(t, err)
	require.Less(t, peak, 200<<10, "nothing piles up in the kernel (KiB)")
	require.Equal(t, "end_of_execution", r.last())
}

func TestLinesAreASCII(t *testing.T) {
	s := serveKernels(t)
	resp, err := s.post(t.Context(), "/execute", params{"code": "print('é漢🌍')\n'ü'"})
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(bufio.NewReader(resp.Body))
	require.NoError(t, err)
	require.Contains(t, string(b), `"text":"\u00e9\u6f22\ud83c\udf0d\n"`)
	require.Equal(t, -1, bytes.IndexFunc(b, func(r rune) bool { return r > 126 }))
}
