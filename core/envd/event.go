package envd

import (
	"encoding/base64"
	"encoding/json"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// event is process.ProcessEvent, one of: started, output, ended, or a sign of
// life. It is reused from message to message; data is valid until the next.
type event struct {
	started bool
	pid     uint32
	output  bool
	channel plane.Channel
	data    []byte
	end     *plane.End

	scratch []byte // decoded base64 of the JSON codec
}

func (e *event) reset() { *e = event{scratch: e.scratch} }

// ParseProto reads {event 1: {start 1 {pid 1}, data 2 {stdout 1, stderr 2, pty 3}, end 3, keepalive 4}}.
func (e *event) ParseProto(b []byte) error {
	e.reset()
	return eachField(b, func(f field) error {
		if f.num != 1 {
			return nil
		}
		return eachField(f.bytes, e.protoBranch)
	})
}

func (e *event) protoBranch(f field) error {
	switch f.num {
	case 1:
		e.started = true
		return eachField(f.bytes, func(f field) error {
			if f.num == 1 {
				e.pid = uint32(f.n)
			}
			return nil
		})
	case 2:
		return eachField(f.bytes, e.protoData)
	case 3:
		e.end = &plane.End{}
		return eachField(f.bytes, e.protoEnd)
	}
	return nil
}

func (e *event) protoData(f field) error {
	if f.num >= 1 && f.num <= 3 {
		e.output, e.channel, e.data = true, plane.Channel(f.num-1), f.bytes
	}
	return nil
}

func (e *event) protoEnd(f field) error {
	switch f.num {
	case 1:
		e.end.ExitCode = int(int32(protowire.DecodeZigZag(f.n)))
	case 2:
		e.end.Exited = f.n != 0
	case 3:
		e.end.Status = string(f.bytes)
	case 4:
		e.end.Error = string(f.bytes)
	}
	return nil
}

// The exact shape in which peers send output, so that bulk output does not pay
// for reflection (ten times faster); any other shape takes the general way.
const (
	dataHead = `{"event":{"data":{"`
	dataTail = `"}}}`
)

// ParseJSON reads the same event in JSON.
func (e *event) ParseJSON(b []byte) error {
	e.reset()
	if e.fastData(b) {
		return nil
	}
	var m struct {
		Event struct {
			Start *struct {
				PID uint32 `json:"pid"`
			} `json:"start"`
			Data *struct {
				Stdout []byte `json:"stdout"`
				Stderr []byte `json:"stderr"`
				PTY    []byte `json:"pty"`
			} `json:"data"`
			End *struct {
				ExitCode      int    `json:"exitCode"`
				SnakeExitCode int    `json:"exit_code"`
				Exited        bool   `json:"exited"`
				Status        string `json:"status"`
				Error         string `json:"error"`
			} `json:"end"`
		} `json:"event"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	switch ev := m.Event; {
	case ev.Start != nil:
		e.started, e.pid = true, ev.Start.PID
	case ev.Data != nil:
		e.output = true
		for ch, data := range [][]byte{ev.Data.Stdout, ev.Data.Stderr, ev.Data.PTY} {
			if data != nil {
				e.channel, e.data = plane.Channel(ch), data
			}
		}
	case ev.End != nil:
		e.end = &plane.End{ExitCode: ev.End.ExitCode + ev.End.SnakeExitCode, Exited: ev.End.Exited, Status: ev.End.Status, Error: ev.End.Error}
	}
	return nil
}

func (e *event) fastData(b []byte) bool {
	if len(b) < len(dataHead)+len(dataTail) || string(b[:len(dataHead)]) != dataHead || string(b[len(b)-len(dataTail):]) != dataTail {
		return false
	}
	b = b[len(dataHead) : len(b)-len(dataTail)]
	for ch, name := range []string{`stdout":"`, `stderr":"`, `pty":"`} {
		if len(b) < len(name) || string(b[:len(name)]) != name {
			continue
		}
		b = b[len(name):]
		if need := base64.StdEncoding.DecodedLen(len(b)); cap(e.scratch) < need {
			e.scratch = make([]byte, need)
		}
		n, err := base64.StdEncoding.Decode(e.scratch[:cap(e.scratch)], b)
		if err != nil {
			return false
		}
		e.output, e.channel, e.data = true, plane.Channel(ch), e.scratch[:n]
		return true
	}
	return false
}

// processList is process.ListResponse.
type processList struct{ list []plane.ProcessInfo }

func (l *processList) ParseProto(b []byte) error {
	l.list = nil
	return eachField(b, func(f field) error {
		if f.num != 1 {
			return nil
		}
		p := plane.ProcessInfo{Args: []string{}, Envs: map[string]string{}}
		err := eachField(f.bytes, func(f field) error { return protoProcess(&p, f) })
		l.list = append(l.list, p)
		return err
	})
}

func protoProcess(p *plane.ProcessInfo, f field) error {
	switch f.num {
	case 1:
		return eachField(f.bytes, func(f field) error { return protoConfig(p, f) })
	case 2:
		p.PID = uint32(f.n)
	case 3:
		p.Tag = string(f.bytes)
	}
	return nil
}

func protoConfig(p *plane.ProcessInfo, f field) error {
	switch f.num {
	case 1:
		p.Cmd = string(f.bytes)
	case 2:
		p.Args = append(p.Args, string(f.bytes))
	case 3:
		return parseMapEntry(f.bytes, p.Envs)
	case 4:
		p.Cwd = string(f.bytes)
	}
	return nil
}

func (l *processList) ParseJSON(b []byte) error {
	var m struct {
		Processes []struct {
			Config struct {
				Cmd  string            `json:"cmd"`
				Args []string          `json:"args"`
				Envs map[string]string `json:"envs"`
				Cwd  string            `json:"cwd"`
			} `json:"config"`
			PID uint32 `json:"pid"`
			Tag string `json:"tag"`
		} `json:"processes"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	l.list = nil
	for _, p := range m.Processes {
		c := p.Config
		if c.Envs == nil {
			c.Envs = map[string]string{}
		}
		l.list = append(l.list, plane.ProcessInfo{PID: p.PID, Tag: p.Tag, Cmd: c.Cmd, Args: orEmpty(c.Args), Envs: c.Envs, Cwd: c.Cwd})
	}
	return nil
}
