package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"connectrpc.com/connect"
)

// fsFault turns an error of the file system into a Connect error. what names the
// attempt, and is all that precedes the cause.
func fsFault(what string, err error) error {
	return connect.NewError(fsCode(err), fmt.Errorf("%s: %w", what, err))
}

func fsCode(err error) connect.Code {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return connect.CodeInternal
	}
	switch errno {
	case syscall.ENOENT, syscall.ENOTDIR:
		return connect.CodeNotFound
	case syscall.EEXIST, syscall.ENOTEMPTY, syscall.EISDIR:
		return connect.CodeAlreadyExists
	case syscall.EACCES, syscall.EPERM, syscall.EROFS:
		return connect.CodePermissionDenied
	case syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE:
		return connect.CodeResourceExhausted
	case syscall.EINVAL, syscall.ENAMETOOLONG:
		return connect.CodeInvalidArgument
	case syscall.ELOOP, syscall.EBUSY:
		return connect.CodeFailedPrecondition
	}
	return connect.CodeInternal
}

// isMissing is true for a path of which some part does not exist.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
