//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// process is a client in a process of its own, connected to the bench's server,
// which takes one JSON line a job and answers one.
type process struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// process starts one. It finds the server by the variables of E2B.
func (b *bench) process(ctx context.Context, name string, argv ...string) (*process, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = b.environ()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &process{name, cmd, in, bufio.NewReaderSize(out, 1<<20)}, cmd.Start()
}

func (b *bench) environ() []string {
	return append(os.Environ(), "E2B_API_URL="+b.server.URL, "E2B_SANDBOX_URL="+b.server.SandboxURL, "E2B_API_KEY="+b.server.APIKey)
}

func (p *process) stop() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

// answer of one job: times in milliseconds, the processor time of all together
// where the client can tell, and the peak RSS in KiB.
type answer struct {
	MS    []float64 `json:"ms"`
	CPU   float64   `json:"cpu"`
	RSS   int64     `json:"rss"`
	Error string    `json:"error"`
}

func (p *process) job(v any) (*answer, error) {
	line, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	text, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%s ended: %w", p.name, err)
	}
	var a answer
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%s: %s", p.name, a.Error)
	}
	return &a, nil
}

func (p *process) latency(op string, n int) (samples, error) {
	a, err := p.job(map[string]any{"op": op, "n": n})
	if err != nil {
		return nil, err
	}
	var s samples
	for _, ms := range a.MS {
		s = append(s, time.Duration(ms*float64(time.Millisecond)))
	}
	return s, nil
}

// once is the time of one job with arguments.
func (p *process) once(job map[string]any) (time.Duration, int64, error) {
	a, err := p.job(job)
	if err != nil {
		return 0, 0, err
	}
	return time.Duration(a.MS[0] * float64(time.Millisecond)), a.RSS, nil
}
