package native

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/setting"
)

// Options configure a Client. The zero value takes everything from the
// environment, .env in the working directory and config.toml.
type Options struct {
	setting.Arguments
	// Proxy and CAFile are as in HostOptions.
	Proxy  string
	CAFile string
	// Server names a local server that is known already; nil = find or start one
	// when the provider is local.
	Server *ServerInfo
	// Find gives the local server when the provider is local and Server is nil;
	// nil = FindServer.
	Find func(context.Context) (*ServerInfo, error)
	// Notice gets one line when the provider was chosen by nobody; nil = stderr.
	Notice io.Writer
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
	// Dir is where .env is looked for; "" is the working directory.
	Dir string
}

// Client makes and finds sandboxes. It is safe for concurrent use; Close it when
// done.
type Client struct {
	*core.Client
	host *Host
}

// NewClient resolves the settings and, for the local provider, finds the server
// or starts it. Errors: E8000 bad settings, E1001 no key, E5001 no local server
// can be had.
func NewClient(ctx context.Context, o Options) (*Client, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	settings, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if settings.NeedsServer() {
		if settings, err = o.local(ctx, settings); err != nil {
			return nil, err
		}
	}
	host, err := NewHost(o.host(settings.Provider))
	if err != nil {
		return nil, err
	}
	client, err := core.NewClient(host, settings)
	if err != nil {
		return nil, errors.Join(err, host.Close())
	}
	return &Client{client, host}, nil
}

// host leaves the authorities out for the local provider: it is plain HTTP on
// loopback, and reading a bundle costs more than making a sandbox.
func (o *Options) host(provider string) HostOptions {
	host := HostOptions{Proxy: o.Proxy, CAFile: o.CAFile, Getenv: o.Getenv}
	if provider != "local" {
		return host
	}
	host.CAFile = ""
	host.Getenv = func(name string) string {
		if name == "SSL_CERT_FILE" {
			return ""
		}
		return o.Getenv(name)
	}
	return host
}

// Close ends what is under way and closes every connection. It is idempotent.
func (c *Client) Close() error { return c.host.Close() }

func (o *Options) resolve() (*setting.Settings, error) {
	in := setting.Input{Arguments: o.Arguments, Env: map[string]string{}}
	for _, name := range setting.Variables() {
		in.Env[name] = o.Getenv(name)
	}
	var err error
	if in.DotEnv, err = readOptional(filepath.Join(o.Dir, ".env")); err != nil {
		return nil, err
	}
	if in.Config, err = readOptional(filepath.Join(ConfigDir(o.Getenv), "config.toml")); err != nil {
		return nil, err
	}
	settings, err := setting.Resolve(in)
	if err == nil && settings.Notice() != "" {
		o.notice(settings.Notice())
	}
	return settings, err
}

func (o *Options) notice(line string) {
	w := o.Notice
	if w == nil {
		w = os.Stderr
	}
	_, _ = fmt.Fprintln(w, line)
}

// maxSettingsFile bounds what is read of a settings file; the core says so when
// it is longer.
const maxSettingsFile = 1<<20 + 1

func readOptional(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.InvalidArgument("%s cannot be read", path).Because(err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSettingsFile))
	if err != nil {
		return nil, fault.InvalidArgument("%s cannot be read", path).Because(err)
	}
	return b, nil
}

// ConfigDir is the directory of config.toml: agent-sandbox in $XDG_CONFIG_HOME,
// else in ~/.config.
func ConfigDir(getenv func(string) string) string {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = filepath.Join(getenv("HOME"), ".config")
	}
	return filepath.Join(base, "agent-sandbox")
}

// local points the settings at the machine's own server.
func (o *Options) local(ctx context.Context, s *setting.Settings) (*setting.Settings, error) {
	server := o.Server
	if server == nil {
		find := o.Find
		if find == nil {
			find = func(ctx context.Context) (*ServerInfo, error) { return FindServer(ctx, FindOptions{Getenv: o.Getenv}) }
		}
		found, err := find(ctx)
		if err != nil {
			return nil, err
		}
		server = found
	}
	return s.OnServer(server.URL, server.SandboxURL, server.APIKey), nil
}
