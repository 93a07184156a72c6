package native

import (
	"context"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// Files reads, writes and watches files. Beside core's calls it streams from
// readers, copies directory trees and watches in the background.
type Files struct {
	*core.Files
	commands *core.Commands
	host     *Host
}

// each does n things, several at a time; the first error ends the rest.
func (f *Files) each(ctx context.Context, n int, do func(context.Context, int) error) error {
	return f.host.Par(ctx, atOnce, n, do)
}

// WriteFrom streams r into a file; memory stays bounded. size < 0 = unknown.
func (f *Files) WriteFrom(ctx context.Context, path string, r io.Reader, size int64, o core.WriteOptions) (*core.WriteInfo, error) {
	return f.WriteSource(ctx, path, NewSource(r, size), o)
}

// Watching is a watch that runs in the background.
type Watching struct {
	cancel context.CancelCauseFunc
	done   chan struct{}
	err    error
}

// WatchDir calls event for each change below path, in order, in the background,
// and returns once the watch stands; ctx bounds the start alone.
func (f *Files) WatchDir(ctx context.Context, path string, o core.WatchOptions, event func(core.Event)) (*Watching, error) {
	pump, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	w := &Watching{cancel: cancel, done: make(chan struct{})}
	started := make(chan struct{}, 1)
	go func() {
		defer close(w.done)
		defer cancel(nil)
		w.err = f.Watch(pump, path, o, func() error { started <- struct{}{}; return nil }, func(e core.Event) error {
			if pump.Err() == nil {
				event(e)
			}
			return nil
		})
	}()
	select {
	case <-started:
		return w, nil
	case <-w.done:
		if w.err == nil {
			return w, nil
		}
		return nil, w.err
	case <-ctx.Done():
		cancel(context.Cause(ctx))
		<-w.done
		return nil, context.Cause(ctx)
	}
}

// Done is closed when the watch has ended; Err then says why.
func (w *Watching) Done() <-chan struct{} { return w.done }

// Err is why the watch ended; nil after Stop. It waits for the end.
func (w *Watching) Err() error {
	<-w.done
	return w.err
}

// Stop ends the watch. It may be called from inside a callback.
func (w *Watching) Stop() { w.cancel(core.ErrDetach) }
