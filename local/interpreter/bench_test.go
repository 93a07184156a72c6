package interpreter

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRun is a small run, from the request to the end of the answer.
func BenchmarkRun(b *testing.B) {
	s := serveKernels(b)
	s.run("1")
	for b.Loop() {
		s.drain(b, "1+1")
	}
}

// BenchmarkOutput is what large output costs, the kernel's part included.
func BenchmarkOutput(b *testing.B) {
	for name, code := range map[string]string{
		"lines":  "for i in range(200_000): print(f'{i:099d}')",
		"one":    "print('x' * 20_000_000)",
		"hanzi":  "print('漢' * 7_000_000)",
		"binary": "from IPython.display import Image; Image(b'\\x89PNG' * 5_000_000, format='png')",
	} {
		b.Run(name, func(b *testing.B) {
			s := serveKernels(b)
			s.run("1")
			b.SetBytes(20_000_000)
			for b.Loop() {
				s.drain(b, code)
			}
		})
	}
}

// drain runs code and reads the answer without a look at it.
func (s *served) drain(b *testing.B, code string) {
	resp, err := s.post(b.Context(), "/execute", params{"code": code})
	require.NoError(b, err)
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(b, err)
	require.NoError(b, resp.Body.Close())
}
