package syscalls

import (
	"testing"

	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
)

func TestDefaultProfileAssembles(t *testing.T) {
	p, err := Default()
	require.NoError(t, err)
	b, err := p.Program()
	require.NoError(t, err)
	require.NotEmpty(t, b)
	require.Zero(t, len(b)%8)
	require.Less(t, len(b)/8, 4096)
}

func TestDeniedAndAllowedDoNotOverlap(t *testing.T) {
	p, err := Default()
	require.NoError(t, err)
	allowed := map[string]bool{}
	for _, n := range append(p.Allow, p.Chroot...) {
		require.False(t, allowed[n], n)
		allowed[n] = true
	}
	for _, c := range p.AllowIf {
		require.False(t, allowed[c.Name], c.Name)
	}
	for _, n := range p.Denied {
		require.False(t, allowed[n], n)
	}
}

func TestNamesAreKnown(t *testing.T) {
	p, err := Default()
	require.NoError(t, err)
	info, err := arch.GetInfo("x86_64")
	require.NoError(t, err)
	var missing []string
	for _, n := range append(append([]string{}, p.Allow...), p.Denied...) {
		if _, ok := info.SyscallNames[n]; !ok {
			missing = append(missing, n)
		}
	}
	// Newer than the library's table: these answer EPERM, and callers fall back.
	require.Subset(t, []string{"getxattrat", "setxattrat", "listxattrat", "removexattrat", "mseal", "uretprobe"}, missing)
}

func BenchmarkProgram(b *testing.B) {
	for b.Loop() {
		p, _ := Default()
		_, _ = p.Program()
	}
}
