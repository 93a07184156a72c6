package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

// watchRequest is what WatchDir and CreateWatcher ask for.
type watchRequest interface {
	GetPath() string
	GetRecursive() bool
	GetIncludeEntry() bool
	GetAllowNetworkMounts() bool
}

// watch is a directory watch with its client's wishes.
type watch struct {
	d       *Daemon
	tree    *treeWatch
	entries bool
}

// watch begins to watch for a request. Its errors are Connect errors.
func (s *filesystemService) watch(header http.Header, r watchRequest) (*watch, error) {
	path, _, err := s.locate(header, r.GetPath())
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fsFault("path not found", err)
	}
	if !info.IsDir() {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%w: %s", errNotDirectory, path))
	}
	if !r.GetAllowNetworkMounts() && onNetwork(path) {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("path '%s' is on a network mount, where changes by others cannot be seen", path))
	}
	tree, err := openTreeWatch(path, r.GetRecursive())
	if err != nil {
		return nil, fsFault("error creating watcher", err)
	}
	return &watch{d: s.d, tree: tree, entries: r.GetIncludeEntry()}, nil
}

// onNetwork tells whether a path is on NFS, CIFS, SMB or FUSE.
func onNetwork(path string) bool {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return false
	}
	switch uint32(st.Type) {
	case unix.NFS_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC:
		return true
	}
	return false
}

// event is what the client is told.
func (w *watch) event(name string, kind filesystempb.EventType) *filesystempb.FilesystemEvent {
	event := &filesystempb.FilesystemEvent{Name: validText(name), Type: kind}
	switch kind {
	case filesystempb.EventType_EVENT_TYPE_CREATE, filesystempb.EventType_EVENT_TYPE_WRITE, filesystempb.EventType_EVENT_TYPE_CHMOD:
		if w.entries {
			// Gone already: the event goes out without.
			event.Entry, _ = w.d.entryAt(filepath.Join(w.tree.root, name))
		}
	}
	return event
}

// watchFault words the end of a watch.
func watchFault(err error) error {
	if errors.Is(err, errOverflow) {
		return connect.NewError(connect.CodeResourceExhausted, err)
	}
	return connect.NewError(connect.CodeInternal, fmt.Errorf("error watching: %w", err))
}

// WatchDir implements filesystem.Filesystem. A client that does not read makes
// its own watch overflow and end, nobody else's.
func (s *filesystemService) WatchDir(ctx context.Context, r *connect.Request[filesystempb.WatchDirRequest], out *connect.ServerStream[filesystempb.WatchDirResponse]) error {
	w, err := s.watch(r.Header(), r.Msg)
	if err != nil {
		return err
	}
	left, leave := context.WithCancel(ctx)
	f := &watchFeed{events: make(chan *filesystempb.FilesystemEvent), ended: make(chan struct{})}
	go func() {
		defer close(f.ended)
		f.err = w.tree.run(func(name string, kind filesystempb.EventType) {
			select {
			case f.events <- w.event(name, kind):
			case <-left.Done():
			}
		})
	}()
	defer func() {
		leave()
		w.tree.close()
		<-f.ended
	}()
	return s.relay(ctx, keepalive(r.Header()), out, f)
}

// watchFeed is the running side of a watch; err may be read after ended.
type watchFeed struct {
	events chan *filesystempb.FilesystemEvent
	ended  chan struct{}
	err    error
}

// relay sends start and then events until one side ends.
func (s *filesystemService) relay(ctx context.Context, every time.Duration, out *connect.ServerStream[filesystempb.WatchDirResponse], f *watchFeed) error {
	start := &filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Start{Start: &filesystempb.WatchDirResponse_StartEvent{}}}
	alive := &filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Keepalive{Keepalive: &filesystempb.WatchDirResponse_KeepAlive{}}}
	if err := out.Send(start); err != nil {
		return err
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		var err error
		select {
		case event := <-f.events:
			err = out.Send(&filesystempb.WatchDirResponse{Event: &filesystempb.WatchDirResponse_Filesystem{Filesystem: event}})
		case <-timer.C:
			err = out.Send(alive)
		case <-f.ended:
			return watchFault(f.err)
		case <-ctx.Done():
			return ctx.Err()
		case <-s.d.closed:
			return connect.NewError(connect.CodeUnavailable, errStopping)
		}
		if err != nil {
			return err
		}
		timer.Reset(every)
	}
}
