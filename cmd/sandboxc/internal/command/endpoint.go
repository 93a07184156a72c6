package command

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// endpoint is one side of a copy: a path here, or in a sandbox.
type endpoint struct {
	id   string // "" = here
	path string // - here is stdin or stdout
}

// parseEndpoint reads ID:PATH or PATH. A path of this machine that has a colon
// is written with a slash before it: ./a:b.
func parseEndpoint(text string) endpoint {
	id, p, found := strings.Cut(text, ":")
	if !found || id == "" || strings.Trim(id, idCharacters) != "" {
		return endpoint{path: text}
	}
	return endpoint{id, p}
}

const idCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// stream is stdin or stdout.
const stream = "-"

// within gives the path that a copy of source gets inside: below target where
// that is a directory or ends with a slash, else target itself.
func within(a *App, sbx *native.Sandbox, source, target, user string) (string, error) {
	name := "stdin"
	if source != stream {
		var err error
		if name, err = ownName(source); err != nil {
			return "", err
		}
	}
	// Programs inside start in the home directory and know no ~.
	target = strings.TrimPrefix(target, "~/")
	if target == "" || target == "~" {
		return name, nil
	}
	if strings.HasSuffix(target, "/") {
		return target + name, nil
	}
	entry, err := sbx.Files.Stat(a.ctx, target, core.FileOptions{User: user})
	if err == nil && entry.Type == core.TypeDirectory {
		return path.Join(target, name), nil
	}
	if err != nil && core.CodeOf(err) != core.CodeFileNotFound {
		return "", err
	}
	return target, nil
}

// beside is within for a target on this machine.
func beside(source, target string) (string, error) {
	name := path.Base(path.Clean("/" + strings.TrimPrefix(source, "~")))
	if name == "/" {
		name = "home"
	}
	if target == "" {
		target = "."
	}
	if info, err := os.Stat(target); err == nil && info.IsDir() {
		return filepath.Join(target, name), nil
	}
	if strings.HasSuffix(target, "/") {
		return "", fault.InvalidArgument("%s is no directory", target)
	}
	return target, nil
}
