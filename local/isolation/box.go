//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// Box is one running sandbox. Its methods may be called from many goroutines.
type Box struct {
	id      string
	engine  *Engine
	cmd     *exec.Cmd
	control *net.UnixConn
	send    sync.Mutex
	cage    *cage
	plot    *plot
	// env are the template's variables.
	env map[string]string

	// claiming guards limits and memory, which a claim changes.
	claiming sync.Mutex
	limits   []Limit
	memory   int64

	pausing sync.Mutex
	paused  bool
	// frozen is the path of the note about the pause.
	frozen string
	full   atomic.Bool
	// dying is set by Kill: a freeze under way has nothing to wait for.
	dying atomic.Bool

	done    chan struct{}
	cleanup error
}

// ErrGone is returned for a sandbox that has ended.
var ErrGone = errors.New("isolation: the sandbox is gone")

// PortClosedError says that nothing listens on a port inside.
type PortClosedError struct{ Port int }

func (e *PortClosedError) Error() string {
	return fmt.Sprintf("nothing listens on port %d in the sandbox", e.Port)
}

// Pid is process 1 of the sandbox as this machine numbers it.
func (b *Box) Pid() int { return b.cmd.Process.Pid }

// Dial connects to the HTTP service inside.
func (b *Box) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs, err := boot.StreamPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	if err := b.post(ctx, boot.Message{Op: boot.OpConn}, theirs); err != nil {
		_ = ours.Close()
		return nil, err
	}
	return ours, nil
}

// DialPort connects to a TCP port on the sandbox's own loopback. The error is
// a *PortClosedError when nothing listens there.
func (b *Box) DialPort(ctx context.Context, port int) (net.Conn, error) {
	if port < 1 || port > 65535 {
		return nil, fmt.Errorf("port %d is out of range", port)
	}
	ours, theirs, err := boot.Pair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	err = b.post(ctx, boot.Message{Op: boot.OpPort, Port: port}, theirs)
	_ = theirs.Close()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = ours.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	m, files, err := boot.Receive(ours)
	switch {
	case ctx.Err() != nil:
		closeFiles(files)
		return nil, ctx.Err()
	case err != nil:
		return nil, ErrGone
	case m.Op != boot.OpConn || len(files) != 1:
		closeFiles(files)
		return nil, &PortClosedError{Port: port}
	}
	defer files[0].Close()
	return net.FileConn(files[0])
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// postTimeout bounds a message to a sandbox that does not read, as a paused
// one whose queue is full.
const postTimeout = 10 * time.Second

func (b *Box) post(ctx context.Context, m boot.Message, files ...*os.File) error {
	select {
	case <-b.done:
		return ErrGone
	default:
	}
	deadline := time.Now().Add(postTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	b.send.Lock()
	defer b.send.Unlock()
	_ = b.control.SetWriteDeadline(deadline)
	err := boot.Send(b.control, m, files...)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	if err != nil {
		return ErrGone
	}
	return nil
}

// Kill ends every process inside and returns when nothing of the sandbox is
// left on this machine. It may be called at any time and more than once.
func (b *Box) Kill() error {
	b.dying.Store(true)
	b.cage.kill()
	// Process 1 takes its whole process namespace with it, frozen or not.
	_ = b.cmd.Process.Kill()
	b.thaw()
	<-b.done
	return b.cleanup
}

// Done is closed when process 1 is gone and everything is cleaned up.
func (b *Box) Done() <-chan struct{} { return b.done }

// Limits lists each limit and whether it holds.
func (b *Box) Limits() []Limit {
	b.claiming.Lock()
	defer b.claiming.Unlock()
	return b.limits
}

// watch waits for the end of process 1 and removes what is left.
func (b *Box) watch() {
	_ = b.cmd.Wait()
	b.cleanup = b.remove()
	b.engine.forget(b)
	close(b.done)
}

func (b *Box) remove() error {
	_ = b.control.Close()
	return errors.Join(b.cage.remove(), b.plot.free())
}
