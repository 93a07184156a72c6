//go:build linux

package isolation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// frozenPrefix begins the name of the note about a paused sandbox, which is
// followed by its process and that process's start time.
const frozenPrefix = "frozen-"

func (b *Box) notePath() string {
	pid := b.cmd.Process.Pid
	return filepath.Join(b.engine.home.path, frozenPrefix+fmt.Sprintf("%d-%s", pid, startTime(pid)))
}

// note writes down that the sandbox is paused.
func (b *Box) note() error {
	b.frozen = b.notePath()
	return os.WriteFile(b.frozen, nil, 0o600)
}

func (b *Box) unnote() {
	if b.frozen != "" {
		_ = os.Remove(b.frozen)
	}
}

// killFrozen ends the paused sandboxes that a home tells of.
func killFrozen(home string) {
	entries, err := os.ReadDir(home)
	if err != nil {
		return
	}
	for _, e := range entries {
		what, ok := strings.CutPrefix(e.Name(), frozenPrefix)
		if !ok {
			continue
		}
		var pid int
		var when string
		if n, _ := fmt.Sscanf(what, "%d-%s", &pid, &when); n != 2 || pid < 2 || startTime(pid) != when {
			continue
		}
		_ = unix.Kill(pid, unix.SIGKILL)
		_ = unix.Kill(pid, unix.SIGCONT)
	}
}

// startTime tells a process from a later one of the same number.
func startTime(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	s := string(b)
	f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(f) < 20 {
		return ""
	}
	return f[19]
}
