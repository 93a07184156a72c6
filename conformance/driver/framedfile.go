package driver

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

func (c *framedCall) read() (any, error) {
	all := []byte{}
	_, err := c.do(host.Call{Body: func(b []byte) error {
		all = append(all, b...)
		return nil
	}})
	if c.Format == "text" {
		var d core.TextDecoder
		return d.Decode(all) + d.Flush(), err
	}
	return map[string]any{"bytes": all}, err
}

// write sends data with the call or from a source, so that the cases meet both.
func (c *framedCall) write() (any, error) {
	if len(c.Data.bytes)%2 == 0 && !c.Stream {
		return c.do(host.Call{Attached: c.Data.bytes})
	}
	if c.Stream {
		c.raw["source"] = map[string]any{"id": 1}
		return c.do(host.Call{Sources: map[uint32]transport.Source{1: native.NewSource(once{bytes.NewReader(c.Data.bytes)}, -1)}})
	}
	sources := map[uint32]transport.Source{}
	c.raw["source"] = c.source(sources, c.Data.bytes)
	return c.do(host.Call{Sources: sources})
}

func (c *framedCall) source(all map[uint32]transport.Source, b []byte) map[string]any {
	id := uint32(len(all) + 1) //nolint:gosec // few
	all[id] = native.NewSource(bytes.NewReader(b), -1)
	return map[string]any{"id": id, "size": len(b), "replayable": true}
}

func (c *framedCall) writeFiles() (any, error) {
	var files []map[string]any
	var attached []byte
	for _, f := range c.Files {
		files = append(files, map[string]any{"path": f.Path, "size": len(f.Data.bytes)})
		attached = append(attached, f.Data.bytes...)
	}
	c.raw["files"] = files
	return c.do(host.Call{Attached: attached})
}

// watch follows a directory until it has had its events; a cancel ends it well.
func (c *framedCall) watch() (any, error) {
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	c.ctx = ctx
	seen := 0
	text, err := c.do(host.Call{Event: func(kind string, text json.RawMessage) {
		var e struct {
			Event json.RawMessage `json:"event"`
		}
		if kind == "started" {
			c.emit("watching", nil)
			return
		}
		_ = json.Unmarshal(text, &e)
		c.emit("change", e.Event)
		if seen++; seen == c.Events {
			stop()
		}
	}})
	if ctx.Err() != nil {
		return nil, nil
	}
	return text, err
}

func (c *framedCall) poll() (any, error) {
	delete(c.raw, "idle_timeout_ms")
	text, err := c.do(host.Call{})
	if err != nil {
		return nil, err
	}
	named := map[string]any{}
	if err := json.Unmarshal(text, &named); err != nil {
		return nil, err
	}
	named["user"] = c.raw["user"]
	if text, err = json.Marshal(named); err != nil {
		return nil, err
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.watchers[c.As] = text
	return nil, nil
}

func (c *framedCall) polled() (any, error) {
	c.s.mu.Lock()
	named := c.s.watchers[c.As]
	c.s.mu.Unlock()
	if err := json.Unmarshal(named, &c.raw); err != nil {
		return nil, err
	}
	return c.do(host.Call{})
}
