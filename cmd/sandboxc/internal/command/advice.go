package command

import (
	"context"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// advise finds an argument that names a file of this machine which is not inside:
// the commonest reason why a first command fails.
func advise(ctx context.Context, sbx *native.Sandbox, argv []string, o core.RunOptions) string {
	for _, arg := range argv {
		if !namesFile(arg) {
			continue
		}
		inside := arg
		if !path.IsAbs(arg) && o.Cwd != "" {
			inside = path.Join(o.Cwd, arg)
		}
		exists, err := sbx.Files.Exists(ctx, inside, core.FileOptions{User: o.User})
		if err != nil || exists {
			continue
		}
		return fmt.Sprintf("%s is on this machine but not inside the sandbox: pass --copy %s, or --mount", output.Clean(arg), output.Clean(arg))
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
