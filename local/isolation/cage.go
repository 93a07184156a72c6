//go:build linux

package isolation

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func accessible(path string) bool {
	return unix.Access(path, unix.W_OK|unix.X_OK) == nil
}

// cage holds the control groups of one sandbox.
type cage struct {
	// dirs maps a controller to its group; "" is the unified tree.
	dirs   map[string]string
	unique []string
	limits []Limit
	groups *controlGroups
}

// groupSetting is one limit to write.
type groupSetting struct{ controller, v1File, v1Value, v2File, v2Value string }

const mebibyte = 1 << 20

// cpuPeriod is the accounting period of the CPU limit in microseconds.
const cpuPeriod = 100_000

func settingsOf(s Spec) []groupSetting {
	mem := strconv.Itoa(s.MemoryMB * mebibyte)
	quota := strconv.Itoa(max(int(s.CPUs*cpuPeriod), 1000))
	pids := strconv.Itoa(s.Pids)
	return []groupSetting{
		{"memory", "memory.limit_in_bytes", mem, "memory.max", mem},
		{"cpu", "cpu.cfs_quota_us", quota, "cpu.max", quota + " " + strconv.Itoa(cpuPeriod)},
		{"pids", "pids.max", pids, "pids.max", pids},
	}
}

// newCage makes the groups of one sandbox and sets its limits. What cannot be
// had is said in limits and is no error.
func (g *controlGroups) newCage(s Spec) *cage {
	c := &cage{dirs: map[string]string{}, groups: g}
	for controller, dir := range g.v1 {
		c.add(g, controller, dir, s.ID)
	}
	if g.v2 != "" {
		c.add(g, "", g.v2, s.ID)
	}
	for _, set := range settingsOf(s) {
		c.limits = append(c.limits, c.limit(g, set))
	}
	return c
}

func (c *cage) add(g *controlGroups, controller, dir, id string) {
	parent, err := g.parent(dir, controller == "")
	if err != nil {
		return
	}
	path := filepath.Join(parent, id)
	err = os.Mkdir(path, 0o755)
	switch {
	case err == nil:
		c.unique = append(c.unique, path)
	case !errors.Is(err, os.ErrExist):
		return
	}
	c.dirs[controller] = path
}

func (c *cage) limit(g *controlGroups, set groupSetting) Limit {
	l := Limit{Name: set.controller, Value: set.v2Value}
	if set.controller == "cpu" {
		l.Value = strings.Fields(set.v2Value)[0]
	}
	var err error
	switch {
	case g.controllers[set.controller] && c.dirs[""] != "":
		err = c.write("", set.v2File, set.v2Value)
		if set.controller == "memory" {
			_ = c.write("", "memory.swap.max", "0")
			_ = c.write("", "memory.oom.group", "0")
		}
	case c.dirs[set.controller] != "":
		if set.controller == "memory" {
			// It may never be the smaller of the two.
			_ = c.write("memory", "memory.memsw.limit_in_bytes", set.v1Value)
		}
		err = c.write(set.controller, set.v1File, set.v1Value)
		if set.controller == "memory" {
			_ = c.write("memory", "memory.memsw.limit_in_bytes", set.v1Value)
		}
	default:
		l.Why = "no writable control group with the " + set.controller + " controller"
		return l
	}
	if err != nil {
		l.Why = err.Error()
		return l
	}
	l.Enforced = true
	return l
}

func (c *cage) write(controller, file, value string) error {
	f, err := os.OpenFile(filepath.Join(c.dirs[controller], file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// spawn starts cmd inside the groups. The unified tree takes the child at its
// clone. Version 1 has no such thing: the calling thread enters the groups,
// which costs no lock as moving another process does, and leaves them again.
func (c *cage) spawn(g *controlGroups, cmd *exec.Cmd) error {
	if dir := c.dirs[""]; dir != "" {
		f, err := os.Open(dir)
		if err != nil {
			return err
		}
		defer f.Close()
		cmd.SysProcAttr.UseCgroupFD, cmd.SysProcAttr.CgroupFD = true, int(f.Fd())
	}
	moves, owner := c.moves(g), ownerOf(cmd)
	if len(moves) == 0 && owner == 0 {
		return cmd.Start()
	}
	result := make(chan error)
	go func() { result <- startFrom(moves, owner, cmd) }()
	return <-result
}

// move is a version 1 group to enter and the one to go back to.
type move struct{ to, back string }

func (c *cage) moves(g *controlGroups) []move {
	var list []move
	for controller, dir := range c.dirs {
		m := move{to: dir, back: g.back[controller]}
		if controller != "" && !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// startFrom starts cmd from a thread inside the groups. A thread that cannot
// go back ends with its goroutine.
func startFrom(moves []move, owner int, cmd *exec.Cmd) error {
	runtime.LockOSThread()
	home := true
	defer func() {
		if home {
			runtime.UnlockOSThread()
		}
	}()
	var entered error
	for _, m := range moves {
		entered = errors.Join(entered, moveThread(m.to))
	}
	err := entered
	if err == nil {
		back := become(owner)
		err = cmd.Start()
		home = back() == nil
	}
	for _, m := range moves {
		if m.back == "" || moveThread(m.back) != nil {
			home = false
		}
	}
	return err
}

func moveThread(dir string) error {
	return os.WriteFile(filepath.Join(dir, "tasks"), []byte("0"), 0)
}

// kill ends every process of the group at once, where the kernel can.
func (c *cage) kill() {
	if c.dirs[""] != "" {
		_ = c.write("", "cgroup.kill", "1")
	}
}

func (c *cage) remove() error {
	var errs []error
	for _, dir := range c.unique {
		errs = append(errs, removeGroup(dir))
	}
	return errors.Join(errs...)
}

// has tells whether the group has a file.
func (c *cage) has(controller, file string) bool {
	dir, ok := c.dirs[controller]
	return ok && isFile(filepath.Join(dir, file))
}

// memoryEvents opens the file whose line oom_kill counts what the system killed for
// want of memory; nil when there is none.
func (c *cage) memoryEvents() *os.File {
	for controller, file := range map[string]string{"": "memory.events", "memory": "memory.oom_control"} {
		if !c.has(controller, file) {
			continue
		}
		if f, err := os.Open(filepath.Join(c.dirs[controller], file)); err == nil {
			return f
		}
	}
	return nil
}

// number reads an integer file of a group; 0 when there is none.
func (c *cage) number(controller, file string) int64 {
	b, err := os.ReadFile(filepath.Join(c.dirs[controller], file))
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	return n
}

// stat reads one line `key value` of a file.
func (c *cage) stat(controller, file, key string) int64 {
	b, err := os.ReadFile(filepath.Join(c.dirs[controller], file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if k, v, ok := strings.Cut(strings.TrimSpace(line), " "); ok && k == key {
			n, _ := strconv.ParseInt(v, 10, 64)
			return n
		}
	}
	return 0
}

// weight is a share of the processors while they are wanted by more than there are.
type weight struct{ v1, v2 string }

// The usual weights are the system's own; the others are a tenth of them.
var (
	usualWeight      = weight{v1: "1024", v2: "100"}
	backgroundWeight = weight{v1: "102", v2: "10"}
)

// weigh sets the share; where there is no such group it stays as it is.
func (c *cage) weigh(w weight) {
	if c.has("", "cpu.weight") {
		_ = c.write("", "cpu.weight", w.v2)
	} else if c.has("cpu", "cpu.shares") {
		_ = c.write("cpu", "cpu.shares", w.v1)
	}
}

// holds tells whether a group enforces the limit of a name.
func (c *cage) holds(name string) bool {
	return slices.ContainsFunc(c.limits, func(l Limit) bool { return l.Name == name && l.Enforced })
}

// relimit sets other limits in groups that enforce the present ones.
func (c *cage) relimit(s Spec) ([]Limit, error) {
	var limits []Limit
	for _, set := range settingsOf(s) {
		l := c.limit(c.groups, set)
		if !l.Enforced {
			return nil, errors.New(l.Name + ": " + l.Why)
		}
		limits = append(limits, l)
	}
	return limits, nil
}
