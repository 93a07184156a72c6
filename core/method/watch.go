package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// WatchOptions say what to watch.
type WatchOptions struct {
	FilePath
	Recursive          bool `json:"recursive,omitempty"`            // what lies below, too
	IncludeEntry       bool `json:"include_entry,omitempty"`        // describe the file in create, write and chmod events
	AllowNetworkMounts bool `json:"allow_network_mounts,omitempty"` // watch them, though they may miss events
}

func (p *WatchOptions) options() core.WatchOptions {
	return core.WatchOptions{User: p.User, Recursive: p.Recursive, IncludeEntry: p.IncludeEntry, AllowNetworkMounts: p.AllowNetworkMounts}
}

// FilesWatchDir gives an event for each change below a directory, in order. A
// cancel ends it without an error. Errors: E4001 when it is missing, E4003 when it
// is no directory.
type FilesWatchDir struct {
	WatchOptions
	IdleTimeoutMS *int64 `json:"idle_timeout_ms,omitempty"` // without a sign of life from the sandbox; 0 = none
}

// watched is the event of a change.
type watched struct {
	Event core.Event `json:"event"`
}

// FilesPollDir starts a watch that collects events until poll_events fetches them.
// Errors: as watch_dir.
type FilesPollDir struct{ WatchOptions }

// Watcher names a watch that collects events.
type Watcher struct {
	WatcherID string `json:"watcher_id"` // for poll_events and poll_stop
}

// WatcherOf names a watch that collects events, and whose it is.
type WatcherOf struct {
	WatcherID string `json:"watcher_id" arg:"1"` // as poll_dir gave it
	User      string `json:"user,omitempty"`     // who started it; default: the sandbox's user
}

// FilesPollEvents gives what happened since the last call; it does not wait.
// Errors: E4001 when there is no such watch.
type FilesPollEvents struct{ WatcherOf }

// FilesPollStop ends a watch. Errors: E4001 when there is no such watch.
type FilesPollStop struct{ WatcherOf }

func watching() []Method {
	return []Method{
		shaped("files.watch_dir", Watch, watchDir),
		onSandbox("files.poll_dir", func(ctx context.Context, s *core.Sandbox, p *FilesPollDir) (*Watcher, error) {
			w, err := s.Files.Poll(ctx, p.Path, p.options())
			if err != nil {
				return nil, err
			}
			return &Watcher{w.ID()}, nil
		}),
		onSandbox("files.poll_events", func(ctx context.Context, s *core.Sandbox, p *FilesPollEvents) ([]core.Event, error) {
			return s.Files.Watcher(p.WatcherID, p.User).Events(ctx)
		}),
		onSandbox("files.poll_stop", func(ctx context.Context, s *core.Sandbox, p *FilesPollStop) (none, error) {
			return nil, s.Files.Watcher(p.WatcherID, p.User).Stop(ctx)
		}),
	}
}

func watchDir(ctx context.Context, c *Call, s *core.Sandbox, p *FilesWatchDir) (none, error) {
	o := p.options()
	o.IdleTimeout = duration(p.IdleTimeoutMS)
	stands := func() error {
		c.Caller.Event("started", nil)
		return nil
	}
	return nil, s.Files.Watch(ctx, p.Path, o, stands, func(e core.Event) error {
		c.Caller.Event("watch", watched{e})
		return nil
	})
}
