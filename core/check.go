package core

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// Arguments are checked here, before any request, in the caller's option names.

func checkID(id string) error {
	if id == "" {
		return fault.InvalidArgument("the sandbox id is empty").On("sandbox_id")
	}
	if len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_'
	}) {
		return fault.InvalidArgument("%q is not a sandbox id", shorten(id)).On("sandbox_id")
	}
	return nil
}

// checkPlace: what a handle says of where its sandbox is goes into addresses, to
// which tokens are sent.
func checkPlace(h *handle.Handle) error {
	if h.Domain != "" && !uri.IsDomain(h.Domain) {
		return fault.InvalidArgument("the domain of the handle must be a host name, with a port where there is one, not %q", shorten(h.Domain)).On("handle")
	}
	if h.URLs.Sandbox != "" && !uri.IsBase(h.URLs.Sandbox) {
		return fault.InvalidArgument("urls.sandbox of the handle must be http:// or https:// with a host, and without user, query or fragment").On("handle")
	}
	return nil
}

func shorten(s string) string {
	if len(s) > 60 {
		return s[:60] + "…"
	}
	return s
}

// checkLife: seconds on the wire; 0 only where a life without end is possible.
func (c *Client) checkLife(option fault.Option, life *time.Duration) error {
	switch {
	case life == nil:
		return nil
	case *life < 0:
		return fault.InvalidArgument("%s must not be negative", option)
	case *life == 0 && !c.control.EndlessLife():
		return fault.InvalidArgument("%s 0 (no end) is not possible with provider %s", option, c.Provider()).
			Suggest("give a number of seconds")
	case life.Seconds() > math.MaxInt32:
		return fault.InvalidArgument("%s is too long", option)
	}
	return nil
}

func checkTimeout(option fault.Option, d *time.Duration) error {
	if d != nil && *d < 0 {
		return fault.InvalidArgument("%s must not be negative; 0 means none", option)
	}
	return nil
}

func checkEnvs(option fault.Option, envs map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(envs)) { // in order: the same error each time
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == '=' || r <= ' ' || r == 0x7f }) {
			return fault.InvalidArgument("%s has the name %q: a variable name must not be empty or have =, a space or a control character", option, shorten(name))
		}
		if strings.ContainsRune(envs[name], 0) {
			return fault.InvalidArgument("%s: the value of %s has a NUL byte", option, name)
		}
	}
	return nil
}

func checkText(option fault.Option, s string) error {
	if strings.ContainsRune(s, 0) {
		return fault.InvalidArgument("%s has a NUL byte", option)
	}
	return nil
}

func checkPath(option fault.Option, path string) error {
	if path == "" {
		return fault.InvalidArgument("%s is empty", option)
	}
	return checkText(option, path)
}

func checkPort(port int) error {
	if port < 1 || port > 65535 {
		return fault.InvalidArgument("%s must be from 1 to 65535, not %d", fault.Option("port"), port)
	}
	return nil
}

// maxArguments is what Linux takes as one argument list, environment included.
const maxArguments = 2 << 20

// maxArgument is what Linux takes as one argument (32 pages).
const maxArgument = 128 << 10

func checkArguments(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return fault.InvalidArgument("the command is empty").On("command")
	}
	total := 0
	for i, a := range argv {
		if strings.ContainsRune(a, 0) {
			return fault.InvalidArgument("%s has a NUL byte", argument(argv, i)).On("command")
		}
		if len(a) >= maxArgument {
			return fault.InvalidArgument("%s has %d bytes, more than Linux takes as one argument (%d)", argument(argv, i), len(a), maxArgument-1).On("command").
				Suggest("write it to a file with files.write, or send it through stdin")
		}
		total += len(a) + 9
	}
	if total > maxArguments {
		return fault.InvalidArgument("the arguments have %d bytes together, more than Linux takes (%d)", total, maxArguments).On("command").
			Suggest("write them to a file with files.write, or send them through stdin")
	}
	return nil
}

// argument names one to the caller, who gave a shell's as the command.
func argument(argv []string, i int) string {
	if shell := Shell(argv[i]); slices.Equal(argv, shell) && i == len(shell)-1 {
		return "the command"
	}
	return fmt.Sprintf("argument %d", i)
}

func checkUser(user string) error {
	if strings.ContainsAny(user, ":\x00\r\n") {
		return fault.InvalidArgument("%s %q has a character that a user name cannot have", fault.Option("user"), shorten(user))
	}
	return nil
}
