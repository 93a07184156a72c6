package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Exit codes of a shell for a command that it cannot execute.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// failure is why a command could not be executed: as a shell would report it.
type failure struct {
	code int
	text string
}

// findExecutable resolves name in the PATH of the command's own environment;
// names with a slash count from the command's directory.
func findExecutable(name, path, dir string) (string, *failure) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	denied := false
	for entry := range strings.SplitSeq(path, ":") {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		candidate := entry + "/" + name
		info, err := os.Stat(candidate)
		if err != nil || name == "" || !info.Mode().IsRegular() {
			continue
		}
		if info.Mode()&0o111 != 0 {
			return candidate, nil
		}
		denied = true
	}
	if denied {
		return "", &failure{exitNotExecutable, name + ": Permission denied\n"}
	}
	return "", &failure{exitNotFound, name + ": command not found\n"}
}

// explain words the failure of an exec, or returns nil when the cause is not the
// executable but the machine.
func explain(name string, err error) *failure {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	code, text := exitNotExecutable, ""
	switch errno {
	case syscall.ENOENT:
		code, text = exitNotFound, "No such file or directory"
	case syscall.ENOTDIR:
		text = "Not a directory"
	case syscall.EACCES, syscall.EPERM:
		text = "Permission denied"
	case syscall.ENOEXEC, syscall.EINVAL, syscall.ELIBBAD:
		text = "cannot execute: required format not recognized"
	case syscall.ELOOP:
		text = "Too many levels of symbolic links"
	case syscall.ENAMETOOLONG:
		text = "File name too long"
	case syscall.ETXTBSY:
		text = "Text file busy"
	case syscall.EISDIR:
		text = "Is a directory"
	default:
		return nil
	}
	return &failure{code, name + ": " + text + "\n"}
}
