package daemon

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

const (
	// abandonedWatcher ends a watcher that nobody has asked for so long.
	abandonedWatcher = time.Hour
	// maxWaiting is how many events a watcher keeps for its client.
	maxWaiting = 1 << 16
	// watcherIDLength is the length of an id after its "w" (e2b.md 3.5).
	watcherIDLength = 20
)

// watcherSet holds the watchers of clients that poll.
type watcherSet struct {
	mu     sync.Mutex
	byID   map[string]*watcher
	closed bool
	// patience is abandonedWatcher, but in tests.
	patience time.Duration
}

func newWatcherSet() *watcherSet {
	return &watcherSet{byID: make(map[string]*watcher), patience: abandonedWatcher}
}

// watcher keeps the events of one watch until they are asked for.
type watcher struct {
	watch *watch
	clock *time.Timer

	mu      sync.Mutex
	waiting []*filesystempb.FilesystemEvent
	err     error
}

func (s *watcherSet) add(id string, w *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.byID[id] = w
	w.clock = time.AfterFunc(s.patience, func() { s.remove(id) })
	return true
}

func (s *watcherSet) get(id string) *watcher {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.byID[id]
	if w != nil {
		w.clock.Reset(s.patience)
	}
	return w
}

func (s *watcherSet) remove(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.byID[id]
	if w == nil {
		return false
	}
	delete(s.byID, id)
	w.clock.Stop()
	w.watch.tree.close()
	return true
}

func (s *watcherSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for id, w := range s.byID {
		delete(s.byID, id)
		w.clock.Stop()
		w.watch.tree.close()
	}
}

// run keeps events until the watch ends. Too many unread ones end it.
func (w *watcher) run() {
	err := w.watch.tree.run(func(name string, kind filesystempb.EventType) {
		event := w.watch.event(name, kind)
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.waiting) >= maxWaiting {
			w.watch.tree.close()
			w.err = errOverflow
			return
		}
		w.waiting = append(w.waiting, event)
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

// take returns the events since the last call, or why there will be no more.
func (w *watcher) take() ([]*filesystempb.FilesystemEvent, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.waiting
	w.waiting = nil
	if len(events) == 0 && w.err != nil {
		return nil, watchFault(w.err)
	}
	return events, nil
}

// CreateWatcher implements filesystem.Filesystem.
func (s *filesystemService) CreateWatcher(_ context.Context, r *connect.Request[filesystempb.CreateWatcherRequest]) (*connect.Response[filesystempb.CreateWatcherResponse], error) {
	if !s.d.enter() {
		return nil, connect.NewError(connect.CodeUnavailable, errStopping)
	}
	defer s.d.work.Done()
	watched, err := s.watch(r.Header(), r.Msg)
	if err != nil {
		return nil, err
	}
	id := "w" + strings.ToLower(rand.Text())[:watcherIDLength]
	w := &watcher{watch: watched}
	if !s.d.watchers.add(id, w) {
		watched.tree.close()
		return nil, connect.NewError(connect.CodeUnavailable, errStopping)
	}
	s.d.work.Go(w.run)
	return connect.NewResponse(&filesystempb.CreateWatcherResponse{WatcherId: id}), nil
}

// GetWatcherEvents implements filesystem.Filesystem.
func (s *filesystemService) GetWatcherEvents(_ context.Context, r *connect.Request[filesystempb.GetWatcherEventsRequest]) (*connect.Response[filesystempb.GetWatcherEventsResponse], error) {
	w := s.d.watchers.get(r.Msg.GetWatcherId())
	if w == nil {
		return nil, watcherNotFound(r.Msg.GetWatcherId())
	}
	events, err := w.take()
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.GetWatcherEventsResponse{Events: events}), nil
}

// RemoveWatcher implements filesystem.Filesystem.
func (s *filesystemService) RemoveWatcher(_ context.Context, r *connect.Request[filesystempb.RemoveWatcherRequest]) (*connect.Response[filesystempb.RemoveWatcherResponse], error) {
	if !s.d.watchers.remove(r.Msg.GetWatcherId()) {
		return nil, watcherNotFound(r.Msg.GetWatcherId())
	}
	return connect.NewResponse(&filesystempb.RemoveWatcherResponse{}), nil
}

func watcherNotFound(id string) error {
	return connect.NewError(connect.CodeNotFound, fmt.Errorf("watcher with id %s not found", id))
}
