package core

import (
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// collector is the sink of a command: it keeps output and calls back, in order.
type collector struct {
	now      func() time.Time
	o        *RunOptions
	began    time.Time
	pid      uint32
	out, err blocks
	outText  TextDecoder
	errText  TextDecoder
}

func (c *collector) Started(pid uint32) error {
	c.pid = pid
	if c.o.OnStart != nil {
		c.o.OnStart(pid)
	}
	return nil
}

func (c *collector) Output(ch plane.Channel, b []byte) error {
	keep, raw, text, dec := &c.out, c.o.OnStdout, c.o.OnStdoutText, &c.outText
	switch ch {
	case plane.Stderr:
		keep, raw, text, dec = &c.err, c.o.OnStderr, c.o.OnStderrText, &c.errText
	case plane.PTY:
		raw, text = c.o.OnPTY, nil
	}
	if !c.o.DiscardOutput {
		keep.write(b)
	}
	if raw != nil {
		raw(b)
	}
	if text != nil {
		if s := dec.Decode(b); s != "" {
			text(s)
		}
	}
	return nil
}

// result is what has come so far; text callbacks get their last characters.
func (c *collector) result() *CommandResult {
	flush(c.o.OnStdoutText, &c.outText)
	flush(c.o.OnStderrText, &c.errText)
	return &CommandResult{StdoutBytes: c.out.join(), StderrBytes: c.err.join(), ExecutionTime: c.now().Sub(c.began)}
}

func flush(text func(string), d *TextDecoder) {
	if text == nil {
		return
	}
	if s := d.Flush(); s != "" {
		text(s)
	}
}
