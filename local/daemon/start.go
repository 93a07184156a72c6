package daemon

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"connectrpc.com/connect"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// startSpec is a request to start a command, as its user.
type startSpec struct {
	config *processpb.ProcessConfig
	tag    *string
	user   User
	// size is that of the terminal; nil means pipes.
	size  *processpb.PTY_Size
	stdin bool
	// deadline kills the command; zero means never.
	deadline time.Time
}

// start starts a command with its first follower, who misses nothing. Its errors
// are Connect errors.
func (d *Daemon) start(s *startSpec) (*command, *subscriber, error) {
	if !d.enter() {
		return nil, nil, connect.NewError(connect.CodeUnavailable, errStopping)
	}
	defer d.work.Done()
	if !d.commands.wants(s.tag) {
		return nil, nil, connect.NewError(connect.CodeCanceled, errUnwanted)
	}
	launch, fail, err := d.prepare(s)
	if err != nil {
		return nil, nil, err
	}
	c := newCommand(s.config, s.tag, pipeChunk)
	c.silence, c.oomKills = d.silence, d.oomKills()
	if s.size != nil {
		c.chunks.size = ttyChunk
	}
	follower := c.output.subscribe()
	if fail == nil {
		fail, err = d.launch(c, launch, s)
		if err != nil {
			return nil, nil, err
		}
	}
	if fail != nil {
		d.startUnborn(c, fail, s.size != nil)
		return c, follower, nil
	}
	c.limit(d, s.deadline)
	c.run(d)
	return c, follower, nil
}

// prepare checks everything that can be checked before there is a process.
func (d *Daemon) prepare(s *startSpec) (*Launch, *failure, error) {
	dir, err := d.workingDir(s)
	if err != nil {
		return nil, nil, err
	}
	env, err := environment(s.user, d.defaults.environment(), s.config.GetEnvs())
	if err != nil {
		return nil, nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	args := append([]string{s.config.GetCmd()}, s.config.GetArgs()...)
	for _, arg := range args {
		if strings.IndexByte(arg, 0) >= 0 {
			return nil, nil, connect.NewError(connect.CodeInvalidArgument, errors.New("argument contains a NUL byte"))
		}
	}
	path, fail := findExecutable(s.config.GetCmd(), env["PATH"], dir)
	return &Launch{
		Path: path, Args: args, Env: list(env), Dir: dir, User: s.user, TTY: s.size != nil,
	}, fail, nil
}

func (d *Daemon) workingDir(s *startSpec) (string, error) {
	dir, err := expandPath(s.config.GetCwd(), s.user, d.defaults.directory())
	if err != nil {
		return "", connect.NewError(connect.CodeInvalidArgument, err)
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("cwd '%s' does not exist", dir)
	case err != nil:
		err = fmt.Errorf("cwd '%s' cannot be used: %w", dir, err)
	case !info.IsDir():
		err = fmt.Errorf("cwd '%s' is not a directory", dir)
	default:
		return dir, nil
	}
	return "", connect.NewError(connect.CodeInvalidArgument, err)
}

// launch starts the process of c. A failure means that the executable, not the
// daemon, is to blame.
func (d *Daemon) launch(c *command, l *Launch, s *startSpec) (*failure, error) {
	uid, gid := d.users.OwnerOf(s.user)
	io, err := openStdio(s.size, s.stdin, uid, gid)
	if err != nil {
		return nil, connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("cannot start process: %w", err))
	}
	l.Stdin, l.Stdout, l.Stderr = io.child[0], io.child[1], io.child[2]
	process, err := launchFile(d.launcher, l)
	io.closeChild()
	if err != nil {
		io.closeParent()
		return launchFailure(s.config.GetCmd(), l, err)
	}
	c.pid, c.process, c.sources = uint32(process.Pid()), process, io.outputs
	c.input = newInput(io.input, io.tty != nil)
	if err := d.commands.add(c); err != nil {
		killSession(process.Pid())
		process.Wait()
		io.closeParent()
		return nil, err
	}
	return nil, nil
}

// launchFile gives scripts without an interpreter line to the shell, as
// execvp(3) does.
func launchFile(launcher Launcher, l *Launch) (Process, error) {
	process, err := launcher.Launch(l)
	if !errors.Is(err, syscall.ENOEXEC) {
		return process, err
	}
	script := *l
	script.Args = append([]string{"/bin/sh", l.Path}, l.Args[1:]...)
	script.Path = "/bin/sh"
	return launcher.Launch(&script)
}

func launchFailure(name string, l *Launch, err error) (*failure, error) {
	if errors.Is(err, syscall.E2BIG) {
		size := 0
		for _, s := range append(l.Args, l.Env...) {
			size += len(s) + 1
		}
		err := fmt.Errorf("argument list too long: arguments and environment take %d bytes", size)
		return nil, connect.NewError(connect.CodeInvalidArgument, err)
	}
	if fail := explain(name, err); fail != nil {
		return fail, nil
	}
	code := connect.CodeInternal
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.ENOMEM) || errors.Is(err, syscall.EMFILE) {
		code = connect.CodeResourceExhausted
	}
	return nil, connect.NewError(code, fmt.Errorf("cannot start process: %w", err))
}

// startUnborn ends a command that never had a process.
func (d *Daemon) startUnborn(c *command, fail *failure, tty bool) {
	c.pid = d.commands.numberUnborn()
	c.input = newInput(nil, false)
	c.sources = nil
	piece := &chunk{from: streamStderr, data: []byte(fail.text)}
	if tty {
		piece.from = streamPTY
	}
	piece.refs.Store(1)
	c.output.publish(piece)
	close(c.exited)
	c.finish(d.commands, exitWith(fail.code))
}
