package daemon

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// killPasses bounds how often a session is searched for processes that forked
// while it was being killed.
const killPasses = 5

// kill ends the command with everything in its session.
func (d *Daemon) kill(c *command) {
	if c.process != nil && d.commands.owns(c) {
		killSession(int(c.pid))
	}
}

// killSession kills the process group of a session's leader and then whatever
// else is left of the session: the jobs of an interactive shell have groups of
// their own.
func killSession(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	for range killPasses {
		if !killMembers(pid) {
			return
		}
	}
}

// killMembers kills every live process of the session and tells whether there was
// one.
func killMembers(session int) bool {
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	found := false
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !inSession(name, session) {
			continue
		}
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			found = true
		}
	}
	return found
}

// inSession reads /proc/PID/stat: after the command in parentheses come state,
// parent, group and session (proc_pid_stat(5)). Zombies do not count.
func inSession(pid string, session int) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 4 || string(fields[0]) == "Z" || string(fields[0]) == "X" {
		return false
	}
	return string(fields[3]) == strconv.Itoa(session)
}

// KillSession kills all processes of the session that pid leads or led.
func KillSession(pid int) { killSession(pid) }
