//go:build linux

package guest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// sudoFailed is sudo's exit code for what is not the command's.
const sudoFailed = 1

// runSudo asks process 1 to run the command as another account, hands over the
// three standard descriptors and answers with the command's exit code.
func runSudo(args []string) int {
	o, done, err := parseSudo(args[1:])
	if err != nil {
		return complain(err)
	}
	if done {
		return 0
	}
	what, err := o.order()
	if err != nil {
		return complain(err)
	}
	c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: sudoSocket})
	if err != nil {
		return complain(err)
	}
	defer c.Close()
	return ask(c, what)
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, "sudo:", err)
	return sudoFailed
}

// ask runs one order over the connection.
func ask(c *net.UnixConn, o order) int {
	term, err := openTerminal()
	if err != nil {
		return complain(err)
	}
	defer term.restore()
	o.TTY = term.slave != nil
	doc, err := boot.Document(o)
	if err != nil {
		return complain(err)
	}
	defer doc.Close()
	in, out, errs := term.files()
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded[:]...)
	if err := boot.Send(c, boot.Message{Op: boot.OpLaunch}, doc, in, out, errs); err != nil {
		return complain(err)
	}
	term.started()
	go passSignals(c, signals, term)
	return wait(c, o, term)
}

// forwarded are the signals that the command gets from its sudo.
var forwarded = [...]os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH,
}

func passSignals(c *net.UnixConn, signals <-chan os.Signal, term *terminal) {
	for s := range signals {
		if s == unix.SIGWINCH {
			term.resize()
			continue
		}
		if n, ok := s.(syscall.Signal); ok {
			_ = boot.Send(c, boot.Message{Op: boot.OpSignal, Signal: int(n)})
		}
	}
}

func wait(c *net.UnixConn, o order, term *terminal) int {
	for {
		m, _, err := boot.Receive(c)
		if err != nil {
			return complain(fmt.Errorf("process 1 does not answer: %w", err))
		}
		switch m.Op {
		case boot.OpRefused:
			term.restore()
			return complain(refusedOrder(m, o))
		case boot.OpExited:
			term.drain()
			return exitCode(syscall.WaitStatus(m.Status), term)
		}
	}
}

func refusedOrder(m boot.Message, o order) error {
	if syscall.Errno(m.Errno) == unix.EPERM && m.Error == "" {
		return fmt.Errorf("only user and root may use sudo here")
	}
	return fmt.Errorf("%s: %w", o.Path, syscall.Errno(m.Errno))
}

// signalGrace is how long sudo waits to die of its command's signal.
const signalGrace = 200 * time.Millisecond

// exitCode ends as the command did: by the same signal, or with its code.
func exitCode(s syscall.WaitStatus, term *terminal) int {
	if !s.Signaled() {
		return s.ExitStatus()
	}
	term.restore()
	signal.Reset()
	_ = unix.Kill(os.Getpid(), s.Signal())
	// The signal ends this process, unless it is one that does not.
	time.Sleep(signalGrace)
	return 128 + int(s.Signal())
}

// order makes what process 1 is asked for of what the user typed.
func (o *sudoOptions) order() (order, error) {
	dir, err := os.Getwd()
	if err != nil {
		dir = "/"
	}
	target, err := o.account()
	if err != nil {
		return order{}, err
	}
	x := order{Args: o.command, Dir: dir, User: o.user, Env: o.environment(target)}
	if o.login || o.shell {
		x.Args = o.shellArgs(target)
	}
	if o.login {
		x.Dir = target.Home
	}
	if len(x.Args) == 0 {
		return order{}, fmt.Errorf("no command: usage: sudo [-EHins] [-u user] [VAR=value] command [arguments]")
	}
	if x.Path, err = lookPath(x.Args[0]); err != nil {
		return order{}, err
	}
	if o.login {
		x.Path, x.Args[0] = target.Shell, "-"+base(target.Shell)
	}
	return x, nil
}

// lookPath finds the command as sudo does, in a PATH of its own.
func lookPath(name string) (string, error) {
	old := os.Getenv("PATH")
	defer func() { _ = os.Setenv("PATH", old) }()
	_ = os.Setenv("PATH", Path)
	p, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s: command not found", name)
	}
	return p, nil
}
