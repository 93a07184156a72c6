//go:build !linux

package build

// contentID: there is no local server here that could need a name.
func contentID() string { return "dev" }
