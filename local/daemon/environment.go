package daemon

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
)

// standardPath serves when the daemon itself was started without a PATH.
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

var errEnvName = errors.New("invalid environment variable name")

// environment is what a command of the user gets: PATH and the user's own
// variables, then the defaults, then those of the request; later ones win
// (e2b.md 3.4).
func environment(user User, defaults, request map[string]string) (map[string]string, error) {
	path := os.Getenv("PATH")
	if path == "" {
		path = standardPath
	}
	env := map[string]string{"PATH": path, "HOME": user.Home, "USER": user.Name, "LOGNAME": user.Name}
	maps.Copy(env, defaults)
	maps.Copy(env, request)
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexByte(value, 0) >= 0 {
			return nil, errEnvName
		}
	}
	return env, nil
}

// list turns variables into the form of execve(2), in a stable order.
func list(env map[string]string) []string {
	all := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}
