//go:build linux

package template

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// PlaceError says that templates cannot be built in a directory.
type PlaceError struct{ Dir string }

func (e *PlaceError) Error() string {
	return fmt.Sprintf("templates cannot be built in %s: it lies on an overlay file system, as a container's own is; "+
		"set XDG_STATE_HOME to a directory on a volume", e.Dir)
}

// checkPlace refuses a directory in which no layer can be written: an overlay
// cannot keep the signs of another one.
func checkPlace(dir string) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if st.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return &PlaceError{dir}
	}
	return nil
}
