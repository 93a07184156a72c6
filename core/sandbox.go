package core

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
)

// Sandbox is one sandbox. It is immutable and safe for concurrent use.
type Sandbox struct {
	client *Client
	handle *handle.Handle
	data   plane.Data

	Commands *Commands
	Pty      *Pty
	Files    *Files
}

func newSandbox(c *Client, h *handle.Handle) *Sandbox {
	s := &Sandbox{client: c, handle: h, data: c.control.Data(h)}
	s.Commands, s.Pty, s.Files = &Commands{s}, &Pty{s}, &Files{s}
	return s
}

// ID names the sandbox.
func (s *Sandbox) ID() string { return s.handle.SandboxID }

// Isolation is what separates the sandbox from its host: namespaces, gvisor,
// vm, or unknown where the server states nothing.
func (s *Sandbox) Isolation() string { return s.handle.Isolation }

// Handle is the value that names the sandbox, tokens included; keep it as a
// secret. ToJSON writes it, Client.Open takes it back.
func (s *Sandbox) Handle() handle.Handle { return *s.handle }

// String shows no secret.
func (s *Sandbox) String() string { return s.handle.String() }

// Info describes the sandbox as the control plane knows it.
func (s *Sandbox) Info(ctx context.Context) (*Info, error) { return s.client.Info(ctx, s.ID()) }

// Kill ends the sandbox for good; false when it had ended already.
func (s *Sandbox) Kill(ctx context.Context) (bool, error) { return s.client.Kill(ctx, s.ID()) }

// SetTimeout makes the sandbox end (or pause) after life from now; it may shorten.
func (s *Sandbox) SetTimeout(ctx context.Context, life time.Duration) error {
	return s.client.SetTimeout(ctx, s.ID(), life)
}

// KeepAlive sees to it that the sandbox lives at least for life from now.
func (s *Sandbox) KeepAlive(ctx context.Context, life time.Duration) error {
	return s.client.KeepAlive(ctx, s.ID(), life)
}

// Pause freezes the sandbox; false when it was paused already.
func (s *Sandbox) Pause(ctx context.Context, o PauseOptions) (bool, error) {
	return s.client.Pause(ctx, s.ID(), o)
}

// Resume continues a paused sandbox. A running one is left as it is.
func (s *Sandbox) Resume(ctx context.Context, o ConnectOptions) error {
	_, err := s.client.Resume(ctx, s.ID(), o)
	return err
}

// IsRunning asks the sandbox itself; false when it was killed, has ended or is
// paused without auto-resume.
func (s *Sandbox) IsRunning(ctx context.Context) (bool, error) { return s.data.Healthy(ctx) }

// Metrics gives samples between start and end; zero times leave that side open.
func (s *Sandbox) Metrics(ctx context.Context, start, end time.Time) ([]Metric, error) {
	return s.client.Metrics(ctx, s.ID(), start, end)
}

// UpdateNetwork replaces the network rules; what is left out is cleared.
func (s *Sandbox) UpdateNetwork(ctx context.Context, n Network) error {
	return s.client.UpdateNetwork(ctx, s.ID(), n)
}

// Host is the host name under which a port of the sandbox is reached.
func (s *Sandbox) Host(port int) (string, error) {
	if err := s.portable(port); err != nil {
		return "", err
	}
	return s.client.control.HostOf(s.handle, port), nil
}

// URL is where a port of the sandbox is reached: http for the local provider,
// https elsewhere.
func (s *Sandbox) URL(port int) (string, error) {
	if err := s.portable(port); err != nil {
		return "", err
	}
	return s.client.control.URLOf(s.handle, port), nil
}

func (s *Sandbox) portable(port int) error {
	if err := s.client.need(capability.Ports); err != nil {
		return err
	}
	return checkPort(port)
}

// TrafficToken is what requests to the sandbox's own ports must carry in the
// header E2B-Traffic-Access-Token; "" when they are public.
func (s *Sandbox) TrafficToken() string { return s.handle.Tokens.Traffic }

// URLOptions shape a signed URL.
type URLOptions struct {
	User    string
	Expires time.Duration // 0 = it never expires; fractions round up
}

// DownloadURL is a URL with which anyone may read path.
func (s *Sandbox) DownloadURL(path string, o URLOptions) (string, error) {
	if err := checkPath("path", path); err != nil {
		return "", err
	}
	return s.signedURL(path, o, false)
}

// UploadURL is a URL to which anyone may POST a file at path. With path "" the
// file names of the form decide.
func (s *Sandbox) UploadURL(path string, o URLOptions) (string, error) {
	return s.signedURL(path, o, true)
}

func (s *Sandbox) signedURL(path string, o URLOptions, write bool) (string, error) {
	if err := s.client.need(capability.URLsSigned); err != nil {
		return "", err
	}
	if err := checkUser(o.User); err != nil {
		return "", err
	}
	return s.data.SignedURL(path, o.User, write, o.Expires)
}

// Info describes a sandbox.
type Info = provider.Info
