package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

// adopt watches a directory that was just made and tells of it, and of what is in
// it: that may have come before the watch and have no event.
func (w *treeWatch) adopt(name string) error {
	err := w.add(name)
	w.tell(name, filesystempb.EventType_EVENT_TYPE_CREATE)
	if err != nil {
		return w.gone(err)
	}
	items, err := os.ReadDir(w.path(name))
	if err != nil {
		return w.gone(err)
	}
	for _, item := range items {
		below := filepath.Join(name, item.Name())
		var st unix.Stat_t
		if unix.Lstat(w.path(below), &st) != nil {
			continue
		}
		w.found[below] = st.Ino
		if !item.IsDir() {
			w.tell(below, filesystempb.EventType_EVENT_TYPE_CREATE)
			continue
		}
		if err := w.adopt(below); err != nil {
			return err
		}
	}
	return nil
}

// descend watches what is below a watched directory, if that is asked for.
func (w *treeWatch) descend(name string) error {
	if !w.recursive {
		return nil
	}
	items, err := os.ReadDir(w.path(name))
	if err != nil {
		return w.gone(err)
	}
	for _, item := range items {
		if !item.IsDir() {
			continue
		}
		below := filepath.Join(name, item.Name())
		if err := w.add(below); err != nil {
			if err = w.gone(err); err != nil {
				return err
			}
			continue
		}
		if err := w.descend(below); err != nil {
			return err
		}
	}
	return nil
}

// gone forgives a directory that has been removed or cannot be read.
func (w *treeWatch) gone(err error) error {
	if err == nil || isMissing(err) || errors.Is(err, os.ErrPermission) {
		return nil
	}
	return err
}

func (w *treeWatch) path(name string) string { return filepath.Join(w.root, name) }

// add watches one directory. Only root may be a link.
func (w *treeWatch) add(name string) error {
	mask := uint32(watchMask)
	if name != "" {
		mask |= unix.IN_DONT_FOLLOW
	}
	raw, err := w.queue.SyscallConn()
	if err != nil {
		return err
	}
	var number int
	var failed error
	err = raw.Control(func(fd uintptr) {
		number, failed = unix.InotifyAddWatch(int(fd), w.path(name), mask)
	})
	if err != nil {
		return err
	}
	if failed != nil {
		return &os.PathError{Op: "watch", Path: w.path(name), Err: failed}
	}
	delete(w.numbers, w.names[number])
	w.names[number], w.numbers[name] = name, number
	return nil
}

// drop forgets a watch that the kernel has ended.
func (w *treeWatch) drop(number int) {
	name := w.names[number]
	delete(w.names, number)
	if w.numbers[name] == number {
		delete(w.numbers, name)
	}
}

// below lists the watches of a directory and of all in it.
func (w *treeWatch) below(dir string) map[string]int {
	all := make(map[string]int)
	for name, number := range w.numbers {
		if name == dir || strings.HasPrefix(name, dir+"/") {
			all[name] = number
		}
	}
	return all
}
