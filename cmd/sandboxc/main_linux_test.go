package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-sandbox/agent-sandbox/native"
)

func TestMain(m *testing.M) {
	if handled, code := inside(os.Args); handled {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){"sandboxc": main})
}

func TestScripts(t *testing.T) {
	needRoot(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
			env.Setenv("STATE", filepath.Join(env.WorkDir, "state", "agent-sandbox"))
			env.Defer(func() { stopServers(t, filepath.Join(env.WorkDir, "state", "agent-sandbox")) })
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"stopserver": func(ts *testscript.TestScript, neg bool, args []string) {
				stopServers(t, ts.Getenv("STATE"))
			},
		},
	})
}

// needRoot skips where sandboxes of the full kind cannot be had.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// stopServers ends the servers of a state directory and waits until they are gone.
func stopServers(t *testing.T, state string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(state, "server*.json"))
	for _, file := range files {
		var info native.ServerInfo
		b, err := os.ReadFile(file)
		if err != nil || json.Unmarshal(b, &info) != nil || info.PID <= 1 {
			continue
		}
		if err := syscall.Kill(info.PID, syscall.SIGTERM); errors.Is(err, syscall.ESRCH) {
			continue
		}
		if !within(10*time.Second, func() bool { return gone(info.PID) }) {
			t.Errorf("the server %d does not end", info.PID)
		}
	}
}

// gone tells whether a process has ended; one that nobody has waited for counts.
func gone(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err != nil || strings.Contains(string(b), ") Z ")
}

func within(limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return done()
}
