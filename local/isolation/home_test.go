//go:build linux

package isolation

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Engines that open at once on one directory sweep beside each other's making.
func TestHomesMadeWhileOthersSweep(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				if err := removeLeftovers(dir); err != nil {
					t.Error(err)
				}
				h, err := makeHome(dir)
				if err != nil {
					t.Error(err)
					return
				}
				require.DirExists(t, h.path)
				if err := h.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
