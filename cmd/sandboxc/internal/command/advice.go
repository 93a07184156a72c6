package command

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
)

// adviceClock bounds the search for advice.
const adviceClock = 2 * time.Second

// advise finds an argument that names a file of this machine which is not inside:
// the commonest reason why a first command fails.
func (j *job) advise(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, adviceClock)
	defer cancel()
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
