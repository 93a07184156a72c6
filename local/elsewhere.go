//go:build !linux

package local

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// ErrNeedsLinux is the answer of New where sandboxes cannot be made.
var ErrNeedsLinux = errors.New("the local provider needs Linux: use a Linux machine or virtual machine, or a cloud provider (set E2B_API_KEY)")

// Server makes sandboxes; on this system there is none.
type Server struct{}

// New returns ErrNeedsLinux.
func New(context.Context, Options) (*Server, error) { return nil, ErrNeedsLinux }

// Serve returns ErrNeedsLinux.
func (*Server) Serve(net.Listener) error { return ErrNeedsLinux }

// Handler answers nothing.
func (*Server) Handler() http.Handler { return http.NotFoundHandler() }

// Close does nothing.
func (*Server) Close() error { return nil }

// Idle reports that nobody uses the server.
func (*Server) Idle() (since time.Time, idle bool) { return time.Time{}, true }

// PageKey returns ErrNeedsLinux.
func (*Server) PageKey(string) (string, error) { return "", ErrNeedsLinux }
