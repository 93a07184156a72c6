package daemon

import (
	"errors"
	"path/filepath"
	"strings"
)

var (
	errNulInPath = errors.New("path contains a NUL byte")
	errOtherHome = errors.New("cannot expand user-specific home dir")
)

// expandPath turns the path of a request into an absolute one (e2b.md 3.2):
// empty is workdir, else home; ~ is home; a relative path is under home, not
// under workdir; an absolute path stays as it is.
func expandPath(path string, user User, workdir string) (string, error) {
	if path == "" {
		if workdir == "" {
			return user.Home, nil
		}
		path = workdir
	}
	switch {
	case strings.IndexByte(path, 0) >= 0:
		return "", errNulInPath
	case path == "~":
		return user.Home, nil
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(user.Home, path[2:]), nil
	case strings.HasPrefix(path, "~"):
		return "", errOtherHome
	case filepath.IsAbs(path):
		return path, nil
	}
	return filepath.Join(user.Home, path), nil
}
