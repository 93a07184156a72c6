//go:build !linux

package hosting

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Server cannot exist here.
type Server struct{}

// Report is what a detached server says; see the Linux side.
type Report struct {
	Server              *native.ServerInfo
	Existing            bool
	Code                fault.Code
	Message, Suggestion string
}

// RunningError says that there is a server already.
type RunningError struct{ Info native.ServerInfo }

// Error names it.
func (e *RunningError) Error() string { return "a local server is running at " + e.Info.URL }

func unavailable() error {
	return fault.New(fault.CodeConnectFailed, "the local provider needs Linux").
		Suggest("set E2B_API_KEY for a cloud, or E2B_API_URL and E2B_API_KEY to a Linux machine's server")
}

// Transient is not possible here.
func Transient(context.Context, Options) (*Server, error) { return nil, unavailable() }

// Info is empty here.
func (*Server) Info() native.ServerInfo { return native.ServerInfo{} }

// Close does nothing here.
func (*Server) Close() error { return nil }

// Serve is not possible here.
func Serve(context.Context, Options, func(native.ServerInfo)) error { return unavailable() }

// Detach is not possible here.
func Detach(context.Context, Launch) (*native.ServerInfo, bool, error) {
	return nil, false, unavailable()
}

// Send is not possible here.
func Send(int, Report) error { return unavailable() }
