package hosting

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// ReadyFD is the descriptor on which a detached server reports to its starter.
const ReadyFD = 3

// Report is what a detached server says once: the server that now runs, or why
// there is none.
type Report struct {
	Server *native.ServerInfo `json:"server,omitempty"`
	// Existing: another program has started it.
	Existing   bool       `json:"existing,omitempty"`
	Code       fault.Code `json:"code,omitempty"`
	Message    string     `json:"message,omitempty"`
	Suggestion string     `json:"suggestion,omitempty"`
}

// Detach gives the live server, else starts one in the background. existing
// tells which.
func Detach(ctx context.Context, l Launch) (info *native.ServerInfo, existing bool, err error) {
	info, err = Live(ctx, l.Getenv)
	if err == nil {
		return info, true, nil
	}
	if fault.CodeOf(err) != fault.CodeConnectFailed {
		return nil, false, err
	}
	report, err := l.spawn(ctx)
	if err != nil {
		return nil, false, err
	}
	if report.Server == nil {
		return nil, false, fault.New(report.Code, "%s", report.Message).Suggest("%s", report.Suggestion)
	}
	return report.Server, report.Existing, nil
}

func (l Launch) spawn(ctx context.Context) (*Report, error) {
	args, err := l.arguments()
	if err != nil {
		return nil, err
	}
	log, err := openLog(l.Getenv)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	cmd := &exec.Cmd{
		Path: self(), Args: args, Env: environment(), Dir: "/", Stdout: log, Stderr: log,
		ExtraFiles:  []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return nil, fault.New(fault.CodeConnectFailed, "the local server could not be started").Because(err)
	}
	report, err := hear(ctx, r)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fault.New(fault.CodeConnectFailed, "the local server did not start: %v", err).Because(err).
			Suggest("its words are in %s", log.Name())
	}
	return report, cmd.Process.Release()
}

// self is this program. Its file may have been replaced or removed meanwhile.
func self() string {
	const running = "/proc/self/exe"
	path, err := os.Executable()
	if err != nil {
		return running
	}
	there, err := os.Stat(path)
	now, err2 := os.Stat(running)
	if err != nil || err2 != nil || !os.SameFile(there, now) {
		return running
	}
	return path // which process lists show
}

func (l Launch) arguments() ([]string, error) {
	args := []string{
		"sandboxc", "serve", "--ready-fd=" + strconv.Itoa(ReadyFD), "--port=" + strconv.Itoa(l.Port),
		"--end-after=" + strconv.FormatFloat(l.EndAfter.Seconds(), 'f', -1, 64),
		"--internet=" + onOff(l.Internet), "--registries=" + onOff(l.Registries),
	}
	for _, origin := range l.AllowOrigins {
		args = append(args, "--allow-origin="+origin)
	}
	if n, err := askedPool(l.InterpreterPool, l.Getenv); err != nil {
		return nil, err
	} else if n != nil {
		args = append(args, "--interpreter-pool="+strconv.Itoa(*n))
	}
	if l.Pages != "" {
		args = append(args, "--pages="+l.Pages)
	}
	return args, nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// maxLog is how long the log may be when a server starts.
const maxLog = 1 << 20

// openLog is where a detached server writes; a long one begins anew.
func openLog(getenv func(string) string) (*os.File, error) {
	dir := native.StateDir(getenv)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "server.log")
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

// environment is this program's without the credentials of other providers: the
// server has no use for them.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "E2B_") || strings.HasPrefix(v, "SANDBOX_")
	})
}

// hear waits for the report. The pipe ends when the server dies.
func hear(ctx context.Context, r *os.File) (*Report, error) {
	if err := r.SetReadDeadline(time.Now().Add(startClock)); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = r.SetReadDeadline(time.Now()) })
	defer stop()
	var report Report
	err := json.NewDecoder(r).Decode(&report)
	switch {
	case err == nil:
		return &report, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("it did not answer within %s", startClock)
	case errors.Is(err, io.EOF):
		return nil, errors.New("it ended at once")
	}
	return nil, err
}

// Send reports to the starter, through the descriptor that it gave.
func Send(fd int, report Report) error {
	f := os.NewFile(uintptr(fd), "ready")
	return errors.Join(json.NewEncoder(f).Encode(report), f.Close())
}
