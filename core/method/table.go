package method

import "slices"

// Table gives every method.
func Table() []Method {
	return slices.Concat(settings(), sandbox(), code(), commands(), pty(), files(), watching())
}
