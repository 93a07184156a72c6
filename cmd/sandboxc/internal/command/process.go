package command

import (
	"os"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Process are the flags that mean the same in run and exec.
type Process struct {
	Env         []string `short:"e" sep:"none" placeholder:"K[=V]" help:"A variable for the command; without =V the value of this shell's."`
	Workdir     string   `short:"w" placeholder:"DIR" help:"Directory to run in. Default: the user's home."`
	User        string   `short:"u" placeholder:"NAME" help:"User to run as. Default: user."`
	Timeout     *float64 `placeholder:"SECONDS" help:"How long the command may run (exit code 124 when it is over)."`
	Interactive bool     `short:"i" help:"Forward stdin even when it is a terminal (a pipe or file is always forwarded)."`
	TTY         bool     `name:"tty" short:"t" help:"Give the command a terminal."`
}

// options are those of the command. It has no time limit unless one is given.
func (p *Process) options() (core.RunOptions, error) {
	timeout, err := seconds("--timeout", p.Timeout)
	if err != nil {
		return core.RunOptions{}, err
	}
	if timeout == nil {
		timeout = new(time.Duration)
	}
	envs, err := parseEnvs(p.Env, os.LookupEnv)
	return core.RunOptions{Cwd: p.Workdir, User: p.User, Timeout: timeout, Envs: envs}, err
}

// parseEnvs reads K=V and K; a K that is not set here is not set there.
func parseEnvs(list []string, lookup func(string) (string, bool)) (map[string]string, error) {
	envs := map[string]string{}
	for _, item := range list {
		name, value, given := strings.Cut(item, "=")
		if name == "" {
			return nil, fault.InvalidArgument("-e %q has no name: it must be K=V or K", item)
		}
		if !given {
			if value, given = lookup(name); !given {
				continue
			}
		}
		envs[name] = value
	}
	return envs, nil
}

// argvOf is the command without the -- that ended our flags, which kong leaves.
func argvOf(command []string) []string {
	if len(command) > 0 && command[0] == "--" {
		return command[1:]
	}
	return command
}
