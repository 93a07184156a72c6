package runner

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// steps plays a script; false when the connection is over.
func (a *answer) steps(steps []Step) bool {
	for i := range steps {
		if a.failed || !a.step(&steps[i]) {
			return false
		}
	}
	return true
}

func (a *answer) step(s *Step) bool {
	switch {
	case s.SleepMS > 0:
		return a.sleep(time.Duration(s.SleepMS) * time.Millisecond)
	case s.WaitFor != "":
		if !a.p.await(s.WaitFor) {
			a.p.broken(fmt.Errorf("the peer waited in vain for %s", s.WaitFor))
			return false
		}
	case s.Close, s.None:
		return true
	case s.FIN:
		a.beforeCut()
		return false
	case s.RST:
		a.reset()
		return false
	case s.Hang:
		a.hang()
		return false
	case s.Repeat != nil:
		for range s.Repeat.Times {
			if !a.step(&s.Repeat.Of) {
				return false
			}
		}
	case s.Pieces != nil:
		return a.steps(s.Pieces.steps())
	default:
		return a.sendStep(s)
	}
	return true
}

func (p *Pieces) steps() []Step {
	var all []Step
	for b := p.Data.b; len(b) > 0; {
		n := len(b)
		switch {
		case p.Size > 0:
			n = min(n, p.Size)
		case len(all) == 0:
			n = min(n, p.At)
		}
		if len(all) > 0 {
			all = append(all, p.Between...)
		}
		piece := &Bytes{b[:n]}
		all = append(all, map[string]Step{"stdout": {Stdout: piece}, "stderr": {Stderr: piece}, "pty": {PTY: piece}}[p.Of])
		b = b[n:]
	}
	return all
}

func (a *answer) sendStep(s *Step) bool {
	b, err := a.bytes(s)
	if err != nil {
		a.p.broken(err)
		return false
	}
	a.write(b)
	return !a.failed
}

// bytes are what a step puts on the wire.
func (a *answer) bytes(s *Step) ([]byte, error) {
	switch {
	case s.Send != nil:
		return s.Send.b, nil
	case s.Line != nil:
		return jsonLine(s.Line)
	case s.Part != nil:
		b, err := a.bytes(&s.Part.Of)
		n := s.Part.N
		if n < 0 {
			n += len(b)
		}
		return b[:max(0, min(n, len(b)))], err
	case s.Envelope != nil:
		b := envelope(s.Envelope.Flags, s.Envelope.Bytes.get())
		if s.Envelope.Size != nil {
			binary.BigEndian.PutUint32(b[1:], uint32(*s.Envelope.Size))
		}
		return b, nil
	case s.EOS != nil:
		b, err := json.Marshal(s.EOS)
		return envelope(2, b), err
	}
	message, err := s.message()
	if err != nil {
		return nil, err
	}
	b, err := encode(a.q.Path(), a.codec, message)
	return envelope(0, b), err
}

// jsonLine is an object with its type first, as the code interpreter writes them.
func jsonLine(line map[string]any) ([]byte, error) {
	var b bytes.Buffer
	for _, name := range slices.SortedFunc(maps.Keys(line), typeFirst) {
		value, err := json.Marshal(line[name])
		if err != nil {
			return nil, err
		}
		before := ", "
		if b.Len() == 0 {
			before = "{"
		}
		fmt.Fprintf(&b, "%s%q: %s", before, name, value)
	}
	return append(b.Bytes(), '}', '\n'), nil
}

func typeFirst(a, b string) int {
	switch {
	case a == b:
		return 0
	case a == "type" || (b != "type" && a < b):
		return -1
	}
	return 1
}

// message is the process event of a step, in protobuf's JSON.
func (s *Step) message() (json.RawMessage, error) {
	if s.Message != nil {
		return s.Message, nil
	}
	var event map[string]any
	switch {
	case s.Start != nil:
		event = map[string]any{"start": map[string]any{"pid": *s.Start}}
	case s.Stdout != nil:
		event = map[string]any{"data": map[string]any{"stdout": s.Stdout.get()}}
	case s.Stderr != nil:
		event = map[string]any{"data": map[string]any{"stderr": s.Stderr.get()}}
	case s.PTY != nil:
		event = map[string]any{"data": map[string]any{"pty": s.PTY.get()}}
	case s.End != nil:
		event = map[string]any{"end": s.End}
	case s.Keepalive:
		event = map[string]any{"keepalive": map[string]any{}}
	default:
		return nil, fmt.Errorf("a step without anything to do")
	}
	return json.Marshal(map[string]any{"event": event})
}
