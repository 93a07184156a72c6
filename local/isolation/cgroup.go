//go:build linux

package isolation

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// controlGroups knows where this process may make control groups. Version 1
// controllers and a version 2 tree occur together: each job takes what there
// is.
type controlGroups struct {
	name string
	// v1 maps a controller to the directory below which we make groups.
	v1 map[string]string
	// back maps a version 1 controller to the group that we are in ourselves.
	back map[string]string
	// v2 is the same for the unified tree, "" = none; controllers are those
	// that it enforces.
	v2          string
	controllers map[string]bool

	mu   sync.Mutex
	made map[string]bool
}

// v1Controllers are those that a sandbox uses when the unified tree does not
// have them; freezing and CPU time need no controller there.
var v1Controllers = [...]string{"memory", "pids", "cpu", "cpuacct", "freezer"}

// findControlGroups looks for writable places; it makes nothing.
func findControlGroups(name string) *controlGroups {
	g := &controlGroups{name: name, v1: map[string]string{}, back: map[string]string{}, controllers: map[string]bool{}, made: map[string]bool{}}
	own := ownGroups()
	for _, m := range groupMounts() {
		if m.unified {
			g.findV2(m.path, own[""])
			continue
		}
		for _, c := range v1Controllers {
			if slices.Contains(m.options, c) {
				g.findV1(c, m.path, own[c])
			}
		}
	}
	g.dropNeedless()
	return g
}

// dropNeedless forgets version 1 controllers whose work the unified tree does:
// each group costs time at every start.
func (g *controlGroups) dropNeedless() {
	if g.v2 == "" {
		return
	}
	delete(g.v1, "freezer")
	delete(g.v1, "cpuacct")
	for c := range g.controllers {
		delete(g.v1, c)
	}
}

func (g *controlGroups) findV1(controller, mount, own string) {
	if dir := filepath.Join(mount, own); isDir(dir) {
		g.back[controller] = dir
	}
	for _, dir := range []string{filepath.Join(mount, own), mount} {
		if writableDir(dir) {
			g.v1[controller] = dir
			return
		}
	}
}

// findV2 prefers a place whose controllers are handed on to children.
func (g *controlGroups) findV2(mount, own string) {
	candidates := []string{mount}
	for dir := filepath.Join(mount, own); len(dir) > len(mount); dir = filepath.Dir(dir) {
		candidates = append(candidates, dir)
	}
	for _, dir := range candidates {
		if !writableDir(dir) {
			continue
		}
		enabled := delegated(dir)
		if g.v2 == "" || len(enabled) > len(g.controllers) {
			g.v2, g.controllers = dir, enabled
		}
	}
}

// delegated lists the controllers that children of dir can have, after asking
// for those that are missing.
func delegated(dir string) map[string]bool {
	for _, c := range []string{"memory", "pids", "cpu"} {
		_ = os.WriteFile(filepath.Join(dir, "cgroup.subtree_control"), []byte("+"+c), 0)
	}
	b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
	enabled := map[string]bool{}
	if err != nil {
		return enabled
	}
	for _, c := range strings.Fields(string(b)) {
		if c == "memory" || c == "pids" || c == "cpu" {
			enabled[c] = true
		}
	}
	return enabled
}

// parent makes the engine's own group below dir, once.
func (g *controlGroups) parent(dir string, unified bool) (string, error) {
	path := filepath.Join(dir, g.name)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.made[path] {
		return path, nil
	}
	if err := os.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if unified {
		for c := range g.controllers {
			if err := os.WriteFile(filepath.Join(path, "cgroup.subtree_control"), []byte("+"+c), 0); err != nil {
				return "", err
			}
		}
	}
	g.made[path] = true
	return path, nil
}

// endAll kills what is still in the groups of an engine that is gone: frozen
// sandboxes, which could not end with it.
func (g *controlGroups) endAll() {
	if g.v2 != "" {
		_ = os.WriteFile(filepath.Join(g.v2, g.name, "cgroup.kill"), []byte("1"), 0)
	}
	frozen, _ := filepath.Glob(filepath.Join(g.v1["freezer"], g.name, "*", "freezer.state"))
	for _, state := range frozen {
		_ = os.WriteFile(state, []byte("THAWED"), 0)
	}
}

// close removes the engine's groups and those of its sandboxes.
func (g *controlGroups) close() error {
	var errs []error
	dirs := []string{}
	for _, dir := range g.v1 {
		dirs = append(dirs, dir)
	}
	if g.v2 != "" {
		dirs = append(dirs, g.v2)
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		errs = append(errs, removeGroup(filepath.Join(dir, g.name)))
	}
	return errors.Join(errs...)
}

// groupRemoval bounds the wait for the kernel to let go of dead processes.
const groupRemoval = 2 * time.Second

// removeGroup deletes a group and those below it.
func removeGroup(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			if err := removeGroup(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	deadline := time.Now().Add(groupRemoval)
	for wait := 100 * time.Microsecond; ; wait *= 2 {
		err := os.Remove(dir)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return err
		}
		time.Sleep(min(wait, 20*time.Millisecond))
	}
}

// groupMount is one mounted hierarchy.
type groupMount struct {
	path    string
	options []string
	unified bool
}

func groupMounts() []groupMount {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	defer f.Close()
	var list []groupMount
	for s := bufio.NewScanner(f); s.Scan(); {
		before, after, ok := strings.Cut(s.Text(), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !ok || len(left) < 5 || len(right) < 3 {
			continue
		}
		switch right[0] {
		case "cgroup":
			list = append(list, groupMount{path: left[4], options: strings.Split(right[2], ",")})
		case "cgroup2":
			list = append(list, groupMount{path: left[4], unified: true})
		}
	}
	return list
}

// ownGroups maps a controller, "" for the unified tree, to our own group.
func ownGroups() map[string]string {
	own := map[string]string{}
	b, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, c := range strings.Split(parts[1], ",") {
			own[c] = parts[2]
		}
	}
	return own
}

func writableDir(dir string) bool {
	fi, err := os.Stat(dir)
	return err == nil && fi.IsDir() && accessible(dir)
}
