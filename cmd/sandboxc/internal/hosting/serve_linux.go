package hosting

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/build"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// lockClock bounds the wait for another program that is starting a server.
const lockClock = 20 * time.Second

// RunningError says that there is a server already.
type RunningError struct{ Info native.ServerInfo }

// Error names it.
func (e *RunningError) Error() string { return "a local server is running at " + e.Info.URL }

// Serve runs the machine's server until ctx ends or, with EndAfter, nobody uses
// it any more. ready is called once it answers and its state is written. Errors:
// *RunningError when there is one already.
func Serve(ctx context.Context, o Options, ready func(native.ServerInfo)) error {
	path := native.StatePath(o.Getenv, build.ID())
	s, err := claim(ctx, o, path)
	if err != nil {
		return err
	}
	ready(s.info)
	err = s.wait(ctx, o, path)
	removeState(path, s.info)
	return errors.Join(err, s.Close())
}

// claim starts the one server of this state file.
func claim(ctx context.Context, o Options, path string) (*Server, error) {
	unlock, err := lockState(ctx, path)
	if err != nil {
		return nil, err
	}
	defer unlock()
	old := native.ReadState(path)
	if old != nil && old.Alive(ctx) {
		return nil, &RunningError{*old}
	}
	key, err := loadKey(o.Getenv)
	if err != nil {
		return nil, err
	}
	s, err := open(ctx, o, key, lastPort(path))
	if err != nil {
		return nil, err
	}
	keepPort(path, s.port)
	sweepStates(path)
	if err := native.WriteState(path, s.info); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func lockState(ctx context.Context, path string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, lockClock)
	defer cancel()
	unlock, err = native.LockState(ctx, path)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fault.New(fault.CodeConnectFailed, "another program has been starting the local server for %s", lockClock).Because(err)
	}
	return unlock, err
}

// wait returns when the server is to end.
func (s *Server) wait(ctx context.Context, o Options, path string) error {
	var look <-chan time.Time
	if o.EndAfter > 0 {
		ticker := time.NewTicker(max(min(o.EndAfter/4, 15*time.Second), 10*time.Millisecond))
		defer ticker.Stop()
		look = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.ended:
			return explain(err)
		case <-look:
			if s.idleFor() >= o.EndAfter && s.retire(ctx, o, path) {
				return nil
			}
		}
	}
}

// retire takes the state away unless somebody came in the meantime: whoever
// looks for a server now starts a new one.
func (s *Server) retire(ctx context.Context, o Options, path string) bool {
	unlock, err := lockState(ctx, path)
	if err != nil {
		return false
	}
	defer unlock()
	if s.idleFor() < o.EndAfter {
		return false
	}
	forget(path, s.info)
	return true
}

// removeState is for the end by a signal. Somebody may be starting the next
// server: its state stays.
func removeState(path string, mine native.ServerInfo) {
	unlock, err := lockState(context.Background(), path)
	if err != nil {
		return
	}
	defer unlock()
	forget(path, mine)
}

func forget(path string, mine native.ServerInfo) {
	if there := native.ReadState(path); there != nil && there.PID == mine.PID && there.URL == mine.URL {
		_ = os.Remove(path)
	}
}

// sweepStates removes what servers of other development builds left that were
// killed.
func sweepStates(mine string) {
	all, _ := filepath.Glob(filepath.Join(filepath.Dir(mine), "server-*.json"))
	for _, path := range all {
		s := native.ReadState(path)
		if path != mine && s != nil && errors.Is(syscall.Kill(s.PID, 0), syscall.ESRCH) {
			_ = os.Remove(path)
		}
	}
}
