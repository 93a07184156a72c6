//go:build linux

package template

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// known is a store with templates whose layers hold nothing.
func known(t *testing.T, names ...string) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	require.NoError(t, err)
	base, ok := isolation.Base("base")
	require.True(t, ok)
	for _, name := range names {
		key := "layer-of-" + name
		require.NoError(t, os.Mkdir(s.layer(key), 0o700))
		require.NoError(t, s.put(Info{Name: name, Base: "base", Layers: []string{key}, Ground: Ground(base)}))
	}
	return s
}

func TestSweepsDisturbNobody(t *testing.T) {
	s := known(t, "a", "b")
	stop := make(chan struct{})
	var sweeps sync.WaitGroup
	for range 2 {
		sweeps.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					// What no template has is looked at alone, in between two holds as well.
					_ = os.Mkdir(s.layer("nobodys"), 0o700)
					if err := s.Sweep(); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	for range 200 {
		release, err := s.keep([]string{"layer-of-a", "layer-of-b"})
		require.NoError(t, err)
		release()
	}
	close(stop)
	sweeps.Wait()
	require.NoError(t, s.Sweep())
	require.NoDirExists(t, s.layer("nobodys"))
	require.DirExists(t, s.layer("layer-of-a"))
}

func TestTemplateOfAnotherGroundIsOutdated(t *testing.T) {
	s := known(t, "a")
	require.Len(t, s.Templates(), 1)
	require.NoError(t, s.put(Info{Name: "b", Base: "base", Ground: "another Python"}))
	require.NoError(t, s.put(Info{Name: "c", Base: "no-such-base"}))
	require.Len(t, s.List(), 3)
	list := s.Templates()
	require.Len(t, list, 1)
	require.Equal(t, "a", list[0].ID)
}

func TestDamagedNamesAreLeftOut(t *testing.T) {
	s := known(t, "a")
	require.NoError(t, os.WriteFile(s.name("broken"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(s.name("../x"), nil, 0o600))
	require.Len(t, s.List(), 1)
	_, err := s.Get("broken")
	require.Error(t, err)
	var missing *NotFoundError
	for _, name := range []string{"none", "../names/a", "", "A"} {
		_, err = s.Get(name)
		require.ErrorAs(t, err, &missing, name)
		require.ErrorAs(t, s.Remove(name), &missing, name)
	}
}
