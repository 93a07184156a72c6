//go:build linux

package local

import (
	"fmt"
	"os"
	"syscall"
)

// makePrivate makes the server's directory, or shuts one that is there to others:
// whoever may write in it may choose the server's key and what its sandboxes see.
func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("local: the state directory %s belongs to another user (id %d)", dir, st.Uid)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}
