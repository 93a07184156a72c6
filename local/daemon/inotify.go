package daemon

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
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
	// moving are directories that have left their name, by the cookie of the rename.
	moving map[uint32]string
	// patience is until when the other halves of those renames are waited for.
	patience time.Time
	// held are the changes below those: whether they are in the tree is not known yet.
	held []heldChange
	tell func(name string, kind filesystempb.EventType)
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
		moving: make(map[uint32]string),
		tell:   func(string, filesystempb.EventType) {},
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
	wait := false
	for {
		n, err := readEvents(raw, buffer, wait)
		wait = errors.Is(err, unix.EAGAIN)
		switch {
		case wait:
			clear(w.found) // nothing is queued: what was found has had its event
			err = w.queue.SetReadDeadline(w.patience)
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = w.settle()
		case err == nil:
			err = w.handleAll(buffer[:n])
		}
		if err == nil && len(w.moving) > 0 && time.Now().After(w.patience) {
			err = w.settle()
		}
		if err != nil {
			return err
		}
	}
}

// readEvents reads what is queued: EAGAIN when that is nothing, unless it shall
// wait.
func readEvents(raw syscall.RawConn, buffer []byte, wait bool) (n int, err error) {
	closed := raw.Read(func(fd uintptr) bool {
		n, err = unix.Read(int(fd), buffer)
		return !errors.Is(err, unix.EINTR) && !(wait && errors.Is(err, unix.EAGAIN))
	})
	if closed != nil {
		return 0, closed
	}
	return n, err
}

func (w *treeWatch) handleAll(events []byte) error {
	for len(events) >= unix.SizeofInotifyEvent {
		head := (*unix.InotifyEvent)(unsafe.Pointer(&events[0]))
		size := unix.SizeofInotifyEvent + int(head.Len)
		name := string(bytes.TrimRight(events[unix.SizeofInotifyEvent:size], "\x00"))
		if err := w.handle(int(head.Wd), change{name: name, mask: head.Mask, cookie: head.Cookie}); err != nil {
			return err
		}
		events = events[size:]
	}
	return nil
}

// change is one event of the kernel; a cookie joins the two halves of a rename.
type change struct {
	name   string
	mask   uint32
	cookie uint32
}

func (c change) has(mask uint32) bool { return c.mask&mask != 0 }

func (w *treeWatch) handle(number int, c change) error {
	if c.has(unix.IN_Q_OVERFLOW) {
		return errOverflow
	}
	dir, known := w.names[number]
	switch {
	case c.has(unix.IN_IGNORED):
		w.drop(number)
	case !known:
	case c.name != "" && w.isMoving(dir):
		w.held = append(w.held, heldChange{number, c})
	case c.name != "":
		c.name = filepath.Join(dir, c.name)
		return w.changed(c)
	case dir == "":
		w.rootChanged(c)
	}
	return nil
}

// rootChanged tells of the watched directory itself; of those below it their
// parents tell.
func (w *treeWatch) rootChanged(c change) {
	if c.has(unix.IN_MOVE_SELF) {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_RENAME)
	}
	if c.has(unix.IN_ATTRIB) {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_CHMOD)
	}
	if c.has(unix.IN_DELETE_SELF) {
		w.tell(".", filesystempb.EventType_EVENT_TYPE_REMOVE)
	}
}

// changed tells of one entry, in the order of e2b.md 3.5.
func (w *treeWatch) changed(c change) error {
	if c.has(unix.IN_CREATE | unix.IN_MOVED_TO) {
		if err := w.appeared(c); err != nil {
			return err
		}
	}
	if c.has(unix.IN_MOVED_FROM | unix.IN_DELETE) {
		delete(w.found, c.name)
	}
	if c.has(unix.IN_MOVED_FROM) {
		if c.has(unix.IN_ISDIR) {
			w.left(c)
		}
		w.tell(c.name, filesystempb.EventType_EVENT_TYPE_RENAME)
	}
	if c.has(unix.IN_ATTRIB) {
		w.tell(c.name, filesystempb.EventType_EVENT_TYPE_CHMOD)
	}
	if c.has(unix.IN_MODIFY) {
		w.tell(c.name, filesystempb.EventType_EVENT_TYPE_WRITE)
	}
	if c.has(unix.IN_DELETE) {
		w.tell(c.name, filesystempb.EventType_EVENT_TYPE_REMOVE)
	}
	return nil
}

// appeared tells of an entry that was made or has moved here. A directory is
// watched before anybody hears of it.
func (w *treeWatch) appeared(c change) error {
	if w.wasFound(c) {
		return nil
	}
	old, moved := w.moving[c.cookie]
	for cookie, name := range w.moving {
		if name == c.name && cookie != c.cookie {
			// The name has a new bearer, so the old one is not coming back to it.
			delete(w.moving, cookie)
			w.forget(name)
		}
	}
	if moved {
		delete(w.moving, c.cookie)
		w.rename(old, c.name)
		w.tell(c.name, filesystempb.EventType_EVENT_TYPE_CREATE)
		return w.release()
	}
	switch {
	case !w.recursive || !c.has(unix.IN_ISDIR):
	case c.has(unix.IN_CREATE):
		return w.adopt(c.name)
	default:
		if err := w.add(c.name); w.gone(err) != nil {
			return err
		}
		if err := w.descend(c.name); err != nil {
			return err
		}
	}
	w.tell(c.name, filesystempb.EventType_EVENT_TYPE_CREATE)
	return nil
}

// wasFound tells whether the creation of an entry has been told of already.
// Something new can only take the place of what was found by a rename.
func (w *treeWatch) wasFound(c change) bool {
	inode, found := w.found[c.name]
	delete(w.found, c.name)
	if !found || c.has(unix.IN_CREATE) {
		return found
	}
	var st unix.Stat_t
	return unix.Lstat(w.path(c.name), &st) == nil && st.Ino == inode
}
