package native

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider/local"
)

// FindOptions say where to look for the local server's program.
type FindOptions struct {
	// Binary is the sandboxc program; "" = $SANDBOXC, this program when it is
	// sandboxc itself, then PATH.
	Binary string
	// Build makes this a development build, which reuses only its own servers.
	Build string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
	// NoStart only looks for a live server.
	NoStart bool
}

// serverClock bounds how long a server may take to start.
const serverClock = 20 * time.Second

// FindServer gives the live local server, or starts one: two callers at once
// make one server. Errors: E5001 names the one command to type.
func FindServer(ctx context.Context, o FindOptions) (*ServerInfo, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	path := StatePath(o.Getenv, o.Build)
	if s, err := o.live(ctx, path); s != nil || err != nil {
		return s, err
	}
	if o.NoStart {
		return nil, fault.New(fault.CodeConnectFailed, "no local server is running").Suggest("start one with: sandboxc serve --detach")
	}
	if runtime.GOOS != "linux" {
		return nil, fault.New(fault.CodeConnectFailed, "the local provider needs Linux").
			Suggest("set E2B_API_KEY for a cloud, or E2B_API_URL to a Linux machine's server")
	}
	binary, err := o.find()
	if err != nil {
		return nil, err
	}
	return o.start(ctx, binary)
}

func (o FindOptions) live(ctx context.Context, path string) (*ServerInfo, error) {
	s := ReadState(path)
	if s == nil || !s.Alive(ctx) {
		return nil, nil
	}
	if err := (&local.State{Schema: s.Schema, Version: s.Version, PID: s.PID}).Supported(); err != nil {
		return nil, err
	}
	return s, nil
}

// find looks for the program in the order that all hosts share.
func (o FindOptions) find() (string, error) {
	if o.Binary != "" {
		return o.Binary, nil
	}
	if b := o.Getenv("SANDBOXC"); b != "" {
		return b, nil
	}
	if self, err := os.Executable(); err == nil && strings.HasPrefix(filepath.Base(self), "sandboxc") {
		return self, nil
	}
	if b, err := exec.LookPath("sandboxc"); err == nil {
		return b, nil
	}
	return "", fault.New(fault.CodeConnectFailed, "no local server is running and no sandboxc program was found to start one").
		Suggest("go install github.com/agent-sandbox/agent-sandbox/cmd/sandboxc@latest, or set SANDBOXC to its path")
}

// start runs `sandboxc serve --detach --json`, which holds the lock while it
// looks again and starts, and prints the state of the server that then lives.
func (o FindOptions) start(ctx context.Context, binary string) (*ServerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, serverClock)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "serve", "--detach", "--json")
	cmd.Env = childEnv(o.Getenv)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return nil, startFailure(err, out.Bytes(), errs.String(), binary)
	}
	var s ServerInfo
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s.APIKey == "" {
		return nil, fault.New(fault.CodeConnectFailed, "%s serve --detach --json did not print a server's state", binary)
	}
	return &s, nil
}

// childEnv hands on this process's environment with the caller's view of where
// state is kept.
func childEnv(getenv func(string) string) []string {
	env := os.Environ()
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if v := getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// startFailure keeps the error that sandboxc itself printed as JSON.
func startFailure(err error, out []byte, errs, binary string) error {
	var said struct {
		Error struct {
			Code       fault.Code `json:"code"`
			Message    string     `json:"message"`
			Suggestion string     `json:"suggestion"`
			Docs       string     `json:"docs"`
		} `json:"error"`
	}
	if json.Unmarshal(out, &said) == nil && said.Error.Code != "" {
		e := fault.New(said.Error.Code, "%s", said.Error.Message).Suggest("%s", said.Error.Suggestion)
		e.Docs = said.Error.Docs
		return e
	}
	line, _, _ := strings.Cut(strings.TrimSpace(errs), "\n")
	if errors.Is(err, context.DeadlineExceeded) {
		line = "it did not answer within " + serverClock.String()
	}
	if line == "" {
		line = err.Error()
	}
	return fault.New(fault.CodeConnectFailed, "the local server could not be started: %s", line).Because(err).
		Suggest("try it in a terminal: %s serve", binary)
}
