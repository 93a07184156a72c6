package daemon

import (
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// deadlineDrain is how long the output of a command that was killed at its
// deadline is still passed on; a child that left its session may hold it for ever.
const deadlineDrain = time.Second

// command is one started process with its descriptors and followers.
type command struct {
	pid    uint32
	config *processpb.ProcessConfig
	tag    *string
	begun  time.Time
	// oomKills is how many the system had killed when it began.
	oomKills int64
	// process is nil when the command could not be executed.
	process Process
	input   *input
	output  *fanout
	chunks  *chunkPool

	// exited is closed when the process has ended, done when its output has too;
	// end may be read after done.
	exited, done chan struct{}
	end          *processpb.ProcessEvent_EndEvent
	finishedAt   time.Time

	silence    time.Duration
	lastOutput atomic.Int64
	emitting   atomic.Int32
	expired    atomic.Bool
	cutOff     atomic.Bool
	sources    []*source
	clock      *awakeClock
}

func newCommand(config *processpb.ProcessConfig, tag *string, chunkSize int) *command {
	return &command{
		config: config,
		tag:    tag,
		begun:  time.Now(),
		output: newFanout(),
		chunks: &chunkPool{size: chunkSize},
		exited: make(chan struct{}),
		done:   make(chan struct{}),
	}
}

// run waits for the process and its output, and ends the command. Outputs that a
// surviving child still holds are drained until Close.
func (c *command) run(d *Daemon) {
	var pumps sync.WaitGroup
	for _, s := range c.sources {
		pumps.Add(1)
		d.work.Add(1)
		go func() {
			defer d.work.Done()
			held := c.pump(s)
			pumps.Done()
			if held {
				d.commands.hold(s.file)
				drain(s.file)
				d.commands.letGo(s.file)
				return
			}
			// Not before the others are done: the input may be the same terminal.
			<-c.done
			_ = s.file.Close()
		}()
	}
	d.work.Add(1)
	go func() {
		defer d.work.Done()
		status := c.process.Wait()
		kills := d.oomKills()
		c.markExited()
		pumps.Wait()
		end := endOf(status)
		c.explain(end, status, kills)
		c.finish(d.commands, end)
	}()
}

// markExited starts the clock of silence for outputs that stay open.
func (c *command) markExited() {
	c.lastOutput.Store(int64(time.Since(c.begun)))
	close(c.exited)
	for _, s := range c.sources {
		_ = s.file.SetReadDeadline(time.Now().Add(c.silence))
	}
}

func (c *command) finish(t *table, end *processpb.ProcessEvent_EndEvent) {
	c.clock.stop()
	c.end = end
	c.finishedAt = time.Now()
	c.input.close()
	t.finish(c)
	close(c.done)
}

// limit kills the command with its whole session at the deadline.
func (c *command) limit(d *Daemon, deadline time.Time) {
	if deadline.IsZero() {
		return
	}
	c.clock = startAwakeClock(time.Until(deadline), func() {
		if c.isDone() {
			return
		}
		c.expired.Store(true)
		d.kill(c)
		time.AfterFunc(deadlineDrain, c.abandon)
	})
}

// abandon stops passing output on, so that only the exit is waited for.
func (c *command) abandon() {
	c.cutOff.Store(true)
	c.output.abandon()
	if c.isDone() {
		return
	}
	for _, s := range c.sources {
		_ = s.file.SetReadDeadline(time.Unix(1, 0))
	}
}

func (c *command) hasExited() bool { return isClosed(c.exited) }

func (c *command) isDone() bool { return isClosed(c.done) }

func (c *command) isCutOff() bool { return c.cutOff.Load() }

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// endOf words an exit as Go's os.ProcessState does (e2b.md 3.4).
func endOf(status syscall.WaitStatus) *processpb.ProcessEvent_EndEvent {
	if status.Signaled() {
		text := "signal: " + status.Signal().String()
		if status.CoreDump() {
			text += " (core dumped)"
		}
		return &processpb.ProcessEvent_EndEvent{ExitCode: -1, Status: text, Error: &text}
	}
	return exitWith(status.ExitStatus())
}

func exitWith(code int) *processpb.ProcessEvent_EndEvent {
	text := "exit status " + strconv.Itoa(code)
	end := &processpb.ProcessEvent_EndEvent{ExitCode: int32(code), Exited: true, Status: text}
	if code != 0 {
		end.Error = &text
	}
	return end
}

// terminal is the command's terminal, nil without one.
func (c *command) terminal() *os.File {
	if c.input == nil || !c.input.tty {
		return nil
	}
	return c.input.file
}
