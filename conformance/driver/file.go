package driver

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

type fileJSON struct {
	Format        string  `json:"format"` // of files.read: bytes (default), text or stream
	Path          string  `json:"path"`
	User          string  `json:"user"`
	Gzip          bool    `json:"gzip"`
	Offset        int64   `json:"offset"`
	Length        int64   `json:"length"`
	IdleTimeoutMS *millis `json:"idle_timeout_ms"`
}

func (f *fileJSON) options() core.FileOptions {
	return core.FileOptions{User: f.User, Gzip: f.Gzip, Offset: f.Offset, Length: f.Length, IdleTimeout: f.IdleTimeoutMS.duration()}
}

func read(c *call) (any, error) {
	var q fileJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	switch q.Format {
	case "text":
		return readText(c)
	case "stream":
		return readStream(c)
	}
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		b, err := f.Read(ctx, q.Path, q.options())
		if err == nil && b == nil {
			err = errors.New("an empty file gave nil")
		}
		return map[string]any{"bytes": b}, err
	})
}

func (c *call) file(fn func(context.Context, *core.Files, fileJSON) (any, error)) (any, error) {
	var q fileJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return fn(ctx, s.Files, q) })
}

func readText(c *call) (any, error) {
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return f.ReadText(ctx, q.Path, q.options())
	})
}

// readStream reads the stream outside the operation that opened it.
func readStream(c *call) (any, error) {
	v, err := c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return f.Open(c.ctx, q.Path, q.options())
	})
	if err != nil {
		return nil, err
	}
	stream := v.(io.ReadCloser)
	defer func() { _ = stream.Close() }()
	b, err := io.ReadAll(stream)
	return map[string]any{"bytes": orEmpty(b)}, err
}

type writeJSON struct {
	Path      string            `json:"path"`
	Data      content           `json:"data"`
	Stream    bool              `json:"stream"` // from a stream of unknown size that can be read once
	User      string            `json:"user"`
	Metadata  map[string]string `json:"metadata"`
	Multipart bool              `json:"multipart"`
	Gzip      bool              `json:"gzip"`
	Files     []writeJSON       `json:"files"`
}

func (w *writeJSON) options() core.WriteOptions {
	return core.WriteOptions{User: w.User, Metadata: w.Metadata, Multipart: w.Multipart, Gzip: w.Gzip}
}

// once is a reader and nothing more.
type once struct{ io.Reader }

func write(c *call) (any, error) {
	var q writeJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		if q.Stream {
			return s.Files.WriteSource(ctx, q.Path, native.NewSource(once{bytes.NewReader(q.Data.bytes)}, -1), q.options())
		}
		return s.Files.Write(ctx, q.Path, q.Data.bytes, q.options())
	})
}

func writeMany(c *call) (any, error) {
	var q writeJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	var files []core.File
	for _, f := range q.Files {
		files = append(files, core.File{Path: f.Path, Bytes: f.Data.bytes})
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return s.Files.WriteMany(ctx, files, q.options())
	})
}

func listDir(c *call) (any, error) {
	var q struct {
		Path, User string
		Depth      int
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return s.Files.List(ctx, q.Path, q.Depth, core.FileOptions{User: q.User})
	})
}

func stat(c *call) (any, error) {
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return f.Stat(ctx, q.Path, q.options())
	})
}

func exists(c *call) (any, error) {
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return f.Exists(ctx, q.Path, q.options())
	})
}

func makeDir(c *call) (any, error) {
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return f.MakeDir(ctx, q.Path, q.options())
	})
}

func remove(c *call) (any, error) {
	return c.file(func(ctx context.Context, f *core.Files, q fileJSON) (any, error) {
		return nil, f.Remove(ctx, q.Path, q.options())
	})
}

func move(c *call) (any, error) {
	var q struct{ Source, Destination, User string }
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return s.Files.Move(ctx, q.Source, q.Destination, core.FileOptions{User: q.User})
	})
}

type watchJSON struct {
	Path               string  `json:"path"`
	User               string  `json:"user"`
	Recursive          bool    `json:"recursive"`
	IncludeEntry       bool    `json:"include_entry"`
	AllowNetworkMounts bool    `json:"allow_network_mounts"`
	IdleTimeoutMS      *millis `json:"idle_timeout_ms"`
	// Events is after how many events the watch is stopped; 0 = never.
	Events int    `json:"events"`
	As     string `json:"as"`
}

func (w *watchJSON) options() core.WatchOptions {
	return core.WatchOptions{
		User: w.User, Recursive: w.Recursive, IncludeEntry: w.IncludeEntry, AllowNetworkMounts: w.AllowNetworkMounts,
		IdleTimeout: w.IdleTimeoutMS.duration(),
	}
}

// watch follows a directory until it has had its events, or the watch ends.
func watch(c *call) (any, error) {
	var q watchJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	inner := *c
	inner.ctx = ctx
	seen := 0
	return inner.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return nil, s.Files.Watch(ctx, q.Path, q.options(), func() error {
			c.emit("watching", nil)
			return nil
		}, func(e core.Event) error {
			c.emit("change", e)
			if seen++; seen == q.Events {
				stop()
			}
			return nil
		})
	})
}

func poll(c *call) (any, error) {
	var q watchJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	v, err := c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return s.Files.Poll(ctx, q.Path, q.options()) })
	if err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.watchers[q.As] = watcher{v.(*core.Watcher).ID(), q.User}
	return nil, nil
}

// watcher is what names a polled watch from one operation to the next.
type watcher struct{ id, user string }

func pollEvents(c *call) (any, error) {
	return c.watcher(func(ctx context.Context, w *core.Watcher) (any, error) { return w.Events(ctx) })
}

func pollStop(c *call) (any, error) {
	return c.watcher(func(ctx context.Context, w *core.Watcher) (any, error) { return nil, w.Stop(ctx) })
}

func (c *call) watcher(fn func(context.Context, *core.Watcher) (any, error)) (any, error) {
	var q struct{ As string }
	if err := c.take(&q); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	w, ok := c.s.watchers[q.As]
	c.s.mu.Unlock()
	if !ok {
		return nil, errors.New("the case has no such watcher")
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return fn(ctx, s.Files.Watcher(w.id, w.user)) })
}
