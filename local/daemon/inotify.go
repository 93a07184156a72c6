package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

// watchMask is what a client can be told of.
const watchMask = unix.IN_CREATE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_ATTRIB |
	unix.IN_MODIFY | unix.IN_DELETE | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// watchBuffer is how many bytes of kernel events are read at once.
const watchBuffer = 64 << 10

// errOverflow ends a watch that has lost events: silence would be a lie.
var errOverflow = errors.New("too many file events at once, some were lost")

// treeWatch watches a directory, or a whole tree of them, through one inotify
// instance. It follows directories that move, which needs watches that are known
// by the kernel's number rather than by name.
type treeWatch struct {
	queue     *os.File
	root      string
	recursive bool
	// names and numbers map watches to paths relative to root, "" being root.
	names   map[int]string
	numbers map[string]int
	// found are entries of new directories that have been told of already, by
	// inode; their kernel events may still be in the queue.
	found map[string]uint64
	tell  func(name string, kind filesystempb.EventType)
}

// openTreeWatch begins to watch; events wait in the kernel until run.
func openTreeWatch(root string, recursive bool) (*treeWatch, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, os.NewSyscallError("inotify_init1", err)
	}
	w := &treeWatch{
		queue: os.NewFile(uintptr(fd), "inotify"), root: root, recursive: recursive,
		names: make(map[int]string), numbers: make(map[string]int), found: make(map[string]uint64),
		tell: func(string, filesystempb.EventType) {},
	}
	if err := w.add(""); err != nil {
		w.close()
		return nil, err
	}
	if err := w.descend(""); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *treeWatch) close() { _ = w.queue.Close() }

// run tells of every change until the watch is closed, and returns why it ended.
func (w *treeWatch) run(tell func(name string, kind filesystempb.EventType)) error {
	w.tell = tell
	buffer := make([]byte, watchBuffer)
	raw, err := w.queue.SyscallConn()
	if err != nil {
		return err
	}
	for {
		var n int
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			n, failed = unix.Read(int(fd), buffer)
			if errors.Is(failed, unix.EAGAIN) {
				// Nothing is queued: whatever was found has had its event.
				clear(w.found)
				return false
			}
			return !errors.Is(failed, unix.EINTR)
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		if err := w.handleAll(buffer[:n]); err != nil {
			return err
		}
	}
}

func (w *treeWatch) handleAll(events []byte) error {
	for len(events) >= unix.SizeofInotifyEvent {
		head := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
		size := unix.SizeofInotifyEvent + int(head.Len)
		name := string(bytes.TrimRight(events[unix.SizeofInotifyEvent:size], "\x00"))
		if err := w.handle(int(head.Wd), head.Mask, name); err != nil {
			return err
		}
		events = events[size:]
	}
	return nil
}

func (w *treeWatch) handle(number int, mask uint32, name string) error {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		return errOverflow
	}
	dir, known := w.names[number]
	if mask&unix.IN_IGNORED != 0 {
		w.drop(number)
		return nil
	}
	switch {
	case !known:
	case name != "":
		return w.changed(filepath.Join(dir, name), mask)
	case dir == "":
		w.rootChanged(mask)
	}
	return nil
}

// rootChanged tells of the watched directory itself; of those below it their
// parents tell.
func (w *treeWatch) rootChanged(mask uint32) {
	if mask&unix.IN_MOVE_SELF != 0 {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_RENAME)
	}
	if mask&unix.IN_ATTRIB != 0 {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_CHMOD)
	}
	if mask&unix.IN_DELETE_SELF != 0 {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_REMOVE)
	}
}

// changed tells of one entry, in the order of e2b.md 3.5.
func (w *treeWatch) changed(name string, mask uint32) error {
	directory := mask&unix.IN_ISDIR != 0
	if mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 && !w.wasFound(name, mask) {
		w.tell(name, filesystempb.EventType_EVENT_TYPE_CREATE)
		if directory && w.recursive {
			if err := w.adopt(name, mask&unix.IN_CREATE != 0); err != nil {
				return err
			}
		}
	}
	if mask&(unix.IN_MOVED_FROM|unix.IN_DELETE) != 0 {
		delete(w.found, name)
	}
	if mask&unix.IN_MOVED_FROM != 0 {
		w.tell(name, filesystempb.EventType_EVENT_TYPE_RENAME)
		if directory {
			w.forget(name)
		}
	}
	if mask&unix.IN_ATTRIB != 0 {
		w.tell(name, filesystempb.EventType_EVENT_TYPE_CHMOD)
	}
	if mask&unix.IN_MODIFY != 0 {
		w.tell(name, filesystempb.EventType_EVENT_TYPE_WRITE)
	}
	if mask&unix.IN_DELETE != 0 {
		w.tell(name, filesystempb.EventType_EVENT_TYPE_REMOVE)
	}
	return nil
}

// wasFound tells whether the creation of name has been told of already. Something
// new can only take the place of what was found by a rename.
func (w *treeWatch) wasFound(name string, mask uint32) bool {
	inode, found := w.found[name]
	delete(w.found, name)
	if !found || mask&unix.IN_CREATE != 0 {
		return found
	}
	var st unix.Stat_t
	return unix.Lstat(w.path(name), &st) == nil && st.Ino == inode
}

// adopt watches a directory that has come, with all below it. fresh ones were
// just made: what is in them already came before the watch and has no event.
func (w *treeWatch) adopt(name string, fresh bool) error {
	if err := w.add(name); err != nil {
		return w.gone(err)
	}
	if !fresh {
		return w.descend(name)
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
		w.tell(below, filesystempb.EventType_EVENT_TYPE_CREATE)
		if item.IsDir() {
			if err := w.adopt(below, true); err != nil {
				return err
			}
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
	if isMissing(err) || errors.Is(err, os.ErrPermission) {
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

// forget ends the watches of a directory that moved away. If it stays within the
// tree, its new name brings new ones.
func (w *treeWatch) forget(name string) {
	raw, err := w.queue.SyscallConn()
	if err != nil {
		return
	}
	for below, number := range w.numbers {
		if below != name && !strings.HasPrefix(below, name+"/") {
			continue
		}
		w.drop(number)
		_ = raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(number)) })
	}
}
