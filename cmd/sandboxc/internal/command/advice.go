package command

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// adviceClock bounds the search for advice.
const adviceClock = 2 * time.Second

// notFound is a shell's exit code for a command that does not exist.
const notFound = 127

// advise finds why a first command fails most often: an argument names a file of
// this machine which is not inside, or a line of shell was given as one word.
func (j *job) advise(ctx context.Context, code int) string {
	ctx, cancel := context.WithTimeout(ctx, adviceClock)
	defer cancel()
	if len(j.argv) == 1 && code == notFound && strings.Contains(j.argv[0], " ") {
		return "the command is taken as it is, without a shell: for a line of shell write  -- sh -c '...'"
	}
	for _, arg := range j.argv {
		if !namesFile(arg) {
			continue
		}
		inside := arg
		if !path.IsAbs(arg) && j.options.Cwd != "" {
			inside = path.Join(j.options.Cwd, arg)
		}
		exists, err := j.sandbox.Files.Exists(ctx, inside, core.FileOptions{User: j.options.User})
		if err == nil && !exists {
			name := output.Clean(arg)
			return fmt.Sprintf("%s is on this machine but not inside the sandbox: %s", name, j.how(name))
		}
	}
	return ""
}

// namesFile tells whether an argument is the name of a file here. A bare word is
// one only if it looks like a file's name, as most words are none.
func namesFile(arg string) bool {
	if arg == "" || strings.HasPrefix(arg, "-") || strings.ContainsRune(arg, 0) || !strings.ContainsAny(arg, "./") {
		return false
	}
	if path.Clean(arg) == "." || path.Clean(arg) == "/" {
		return false
	}
	_, err := os.Lstat(arg)
	return err == nil
}

// guided adds the next step to errors that have none: here it is a command.
func guided(err error) error {
	e := fault.As(err)
	if e == nil {
		return err
	}
	switch {
	case e.Code == fault.CodeSandboxNotFound && e.Suggestion == "":
		e.Suggestion = "sandboxc list shows those that exist"
	case e.Code == fault.CodeInvalidAPIKey && e.Status == 0:
		e.Suggestion = "set E2B_API_KEY; or use --provider local, which needs none"
	case e.Code == fault.CodeTemplateNotFound && e.Suggestion == "":
		e.Suggestion = "sandboxc template list shows those of this machine"
	case e.Code == fault.CodeConnectFailed && leadsNowhere(e.Message, os.Getenv("E2B_API_URL")):
		e.Suggestion = `E2B_API_URL names a server on this machine; if that has ended, say again: eval "$(sandboxc env)"`
	}
	return err
}

// leadsNowhere tells whether the connection that failed was to a server like ours,
// at the address that a shell still has from sandboxc env.
func leadsNowhere(message, address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()) &&
		strings.HasPrefix(message, "could not connect to "+u.Host+":")
}
