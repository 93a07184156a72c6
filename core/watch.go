package core

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// Event is one change below a watched directory.
type Event = plane.Event

// The event types.
const (
	EventCreate = plane.EventCreate
	EventWrite  = plane.EventWrite
	EventRemove = plane.EventRemove
	EventRename = plane.EventRename
	EventChmod  = plane.EventChmod
)

// WatchOptions say what to watch.
type WatchOptions struct {
	User               string
	Recursive          bool
	IncludeEntry       bool // describe the file in create, write and chmod events
	AllowNetworkMounts bool
	IdleTimeout        *time.Duration // without a sign of life; 0 = none; nil = the client's
}

func (o WatchOptions) spec(path string) plane.WatchSpec {
	return plane.WatchSpec{Path: path, User: o.User, Recursive: o.Recursive, IncludeEntry: o.IncludeEntry, AllowNetworkMounts: o.AllowNetworkMounts}
}

// Watch calls started once the watch stands and event for each change, in
// order, until ctx ends (which is no error) or a callback fails.
func (f *Files) Watch(ctx context.Context, path string, o WatchOptions, started func() error, event func(Event) error) error {
	if err := f.watchable(path, o.User, o.IdleTimeout); err != nil {
		return err
	}
	settings := f.s.client.settings
	watch := plane.Watch{Idle: orElse(o.IdleTimeout, settings.IdleTimeout), Request: settings.RequestTimeout}
	if started == nil {
		started = func() error { return nil }
	}
	err := f.s.data.WatchDir(ctx, o.spec(path), watch, started, event)
	if ctx.Err() != nil {
		return nil
	}
	return about(err, f.s.ID())
}

func (f *Files) watchable(path, user string, idle *time.Duration) error {
	if err := f.s.client.need(capability.FilesWatch); err != nil {
		return err
	}
	if err := checkTimeout("idle_timeout_ms", idle); err != nil {
		return err
	}
	return f.check("path", path, user)
}

// Watcher is a watch that is asked for its events.
type Watcher struct {
	files *Files
	id    string
	user  string
}

// Poll starts a watch that collects events until Events fetches them.
func (f *Files) Poll(ctx context.Context, path string, o WatchOptions) (*Watcher, error) {
	if err := f.watchable(path, o.User, nil); err != nil {
		return nil, err
	}
	id, err := f.s.data.CreateWatcher(ctx, o.spec(path))
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	return &Watcher{f, id, o.User}, nil
}

// ID names the watcher; Files.Watcher takes it back.
func (w *Watcher) ID() string { return w.id }

// Watcher is the watcher of that ID, which user started. It makes no request.
func (f *Files) Watcher(id, user string) *Watcher { return &Watcher{f, id, user} }

// Events gives what happened since the last call; it does not wait.
func (w *Watcher) Events(ctx context.Context) ([]Event, error) {
	events, err := w.files.s.data.WatcherEvents(ctx, w.id, w.user)
	if events == nil {
		events = []Event{}
	}
	return events, w.files.failed(ctx, err)
}

// Stop ends the watch.
func (w *Watcher) Stop(ctx context.Context) error {
	return w.files.failed(ctx, w.files.s.data.RemoveWatcher(ctx, w.id, w.user))
}
