//go:build linux

package guest

import (
	"net/http"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// Service makes the HTTP handler that a sandbox answers with. It is called
// once, in process 1, after every privilege was dropped.
type Service func(Inside) (http.Handler, error)

// Main runs the role that args[0] names and returns its exit code. handled is
// false when args[0] names none: the caller is an ordinary program then. A
// binary that starts sandboxes, or whose tests do, calls it first thing.
func Main(args []string) (handled bool, code int) {
	return Run(args, envd)
}

// Run is Main with another service in place of the envd-compatible one.
func Run(args []string, s Service) (handled bool, code int) {
	if len(args) == 0 {
		return false, 0
	}
	switch filepath.Base(args[0]) {
	case boot.InitName:
		return true, runInit(s)
	case boot.UserSideName:
		return true, runUserSide()
	case boot.SudoName:
		return true, runSudo(args)
	}
	return false, 0
}
