package envd

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

const filesystem = "filesystem.Filesystem/"

// entry makes a call that answers one entry.
func (c *Client) entry(ctx context.Context, idempotent bool, method, user string, in connect.Encoder) (*plane.Entry, error) {
	var out entryAnswer
	if err := c.unary(ctx, idempotent, filesystem+method, user, fileArea, in, &out); err != nil {
		return nil, err
	}
	if out.entry == nil {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: %s answered no entry", method)
	}
	return out.entry, nil
}

// Stat describes a path.
func (c *Client) Stat(ctx context.Context, path, user string) (*plane.Entry, error) {
	return c.entry(ctx, true, "Stat", user, pathRequest{path: path})
}

// ListDir lists a directory to a depth of at least 1.
func (c *Client) ListDir(ctx context.Context, path, user string, depth uint32) ([]plane.Entry, error) {
	var out entryList
	err := c.unary(ctx, true, filesystem+"ListDir", user, fileArea, pathRequest{path, depth}, &out)
	if err != nil {
		return nil, c.kindOf(ctx, err, path, user, plane.TypeFile, fault.KindNotDirectory)
	}
	return out.entries, nil
}

// kindOf turns "invalid argument" about a path into the wrong kind of path when
// a Stat shows that it is one: the peer tells the two apart in words only.
func (c *Client) kindOf(ctx context.Context, err error, path, user string, wrong plane.FileType, kind string) error {
	if fault.CodeOf(err) != fault.CodeInvalidArgument || ctx.Err() != nil {
		return err
	}
	entry, serr := c.Stat(ctx, path, user)
	if serr != nil || entry.Type != wrong {
		return err
	}
	e := fault.New(fault.CodePathKind, "%s is a %s", path, map[plane.FileType]string{plane.TypeFile: "file", plane.TypeDirectory: "directory"}[wrong])
	e.Kind, e.Cause = kind, err
	return e
}

// MakeDir makes a directory and its parents.
func (c *Client) MakeDir(ctx context.Context, path, user string) (*plane.Entry, error) {
	e, err := c.entry(ctx, false, "MakeDir", user, pathRequest{path: path})
	if err != nil {
		err = c.kindOf(ctx, err, path, user, plane.TypeFile, fault.KindNotDirectory)
	}
	return e, err
}

// Move renames a path.
func (c *Client) Move(ctx context.Context, source, destination, user string) (*plane.Entry, error) {
	return c.entry(ctx, false, "Move", user, moveRequest{source, destination})
}

// Remove removes a path and what is below it; a missing one is no error.
func (c *Client) Remove(ctx context.Context, path, user string) error {
	return c.unary(ctx, true, filesystem+"Remove", user, fileArea, pathRequest{path: path}, done{})
}

// CreateWatcher starts a watch that is polled.
func (c *Client) CreateWatcher(ctx context.Context, spec plane.WatchSpec) (string, error) {
	if err := c.watchable(spec); err != nil {
		return "", err
	}
	var out watcherID
	err := c.unary(ctx, false, filesystem+"CreateWatcher", spec.User, fileArea, watchRequest{spec}, &out)
	if err != nil {
		return "", c.kindOf(ctx, err, spec.Path, spec.User, plane.TypeFile, fault.KindNotDirectory)
	}
	if out.id == "" {
		return "", fault.New(fault.CodeProtocol, "the peer broke the protocol: CreateWatcher answered no watcher id")
	}
	return out.id, nil
}

// WatcherEvents drains a polled watch. It is not repeated: a lost answer has
// drained what it carried.
func (c *Client) WatcherEvents(ctx context.Context, id, user string) ([]plane.Event, error) {
	var out eventList
	err := c.unary(ctx, false, filesystem+"GetWatcherEvents", user, fileArea, watcherRequest{id}, &out)
	return out.events, err
}

// RemoveWatcher ends a polled watch.
func (c *Client) RemoveWatcher(ctx context.Context, id, user string) error {
	return c.unary(ctx, true, filesystem+"RemoveWatcher", user, fileArea, watcherRequest{id}, done{})
}

// watchable refuses options that the sandbox's envd is too old for (e2b.md 3.6).
func (c *Client) watchable(spec plane.WatchSpec) error {
	gates := []struct {
		asked  bool
		option string
		gate   []int
	}{
		{spec.Recursive, "recursive", []int{0, 1, 4}},
		{spec.IncludeEntry, "include_entry", []int{0, 6, 3}},
		{spec.AllowNetworkMounts, "allow_network_mounts", []int{0, 6, 4}},
	}
	for _, g := range gates {
		if g.asked && !AtLeast(c.cfg.Version, g.gate...) {
			return fault.New(fault.CodeCapability, "this sandbox's envd %s cannot do %s", c.cfg.Version, g.option).
				Suggest("rebuild the template")
		}
	}
	return nil
}
