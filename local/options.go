package local

import (
	"errors"
	"log/slog"
	"path/filepath"
)

// Options configure a Server.
type Options struct {
	// StateDir is a directory of the server alone; it is made with mode 0700.
	StateDir string
	// Binary is what runs as the first process of a sandbox; "" is this program.
	Binary string
	// Internet is what a sandbox gets whose maker did not say.
	Internet bool
	// Registries lets sandboxes reach the host's own package registries even
	// where their addresses are private.
	Registries bool
	// AllowOrigins are the web origins, besides loopback ones, whose pages may
	// use the control plane.
	AllowOrigins []string
	// Pages is a directory whose files the server serves under /pages/, to pages
	// that get their key by a one-time code; "" = none.
	Pages string
	// APIKey opens the control plane. It must not be empty.
	APIKey string
	// DiskPool is how many disks are kept ready for sandboxes to come: 0 is the
	// default, less than 0 none, which suits a server that lives for one sandbox.
	DiskPool int
	// InterpreterPool is how many sandboxes of the code interpreter's template are
	// kept ready, with their interpreter running: 0 is DefaultInterpreterPool once
	// one was used, less than 0 none, another number from the start.
	InterpreterPool int
	// Log gets what happens; it never gets a secret. nil is silent.
	Log *slog.Logger
	// Version is shown in the header Server of the control plane's answers.
	Version string
}

func (o *Options) check() error {
	if o.APIKey == "" {
		return errors.New("local: the API key is empty")
	}
	if !filepath.IsAbs(o.StateDir) {
		return errors.New("local: the state directory must be an absolute path")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return nil
}
