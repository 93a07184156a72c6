package daemon

import (
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// renameWait is how long the second half of a rename may come after the first: the
// kernel queues them one after the other, and others may come between.
const renameWait = 20 * time.Millisecond

// settle gives up what moved away: it has left the tree.
func (w *treeWatch) settle() error {
	for cookie, name := range w.moving {
		delete(w.moving, cookie)
		w.forget(name)
	}
	w.patience = time.Time{}
	if err := w.queue.SetReadDeadline(w.patience); err != nil {
		return err
	}
	return w.release()
}

// isMoving tells whether a directory is one that has left its name, or below it.
func (w *treeWatch) isMoving(dir string) bool {
	for _, name := range w.moving {
		if dir == name || strings.HasPrefix(dir, name+"/") {
			return true
		}
	}
	return false
}

// release handles what was held: under its new name, or not at all where its
// directory has left the tree.
func (w *treeWatch) release() error {
	held := w.held
	w.held = nil
	for _, one := range held {
		if err := w.handle(one.number, one.change); err != nil {
			return err
		}
	}
	return nil
}

// heldChange is a change in the directory of a watch's number.
type heldChange struct {
	number int
	change change
}

// left notes a directory that has left its name.
func (w *treeWatch) left(c change) {
	if len(w.moving) == 0 {
		w.patience = time.Now().Add(renameWait)
	}
	w.moving[c.cookie] = c.name
}

// rename keeps the watches of a directory that has moved within the tree.
func (w *treeWatch) rename(from, to string) {
	for name, number := range w.below(from) {
		delete(w.numbers, name)
		name = to + strings.TrimPrefix(name, from)
		w.names[number], w.numbers[name] = name, number
	}
}

// forget ends the watches of a directory that has left the tree.
func (w *treeWatch) forget(dir string) {
	raw, err := w.queue.SyscallConn()
	if err != nil {
		return
	}
	for _, number := range w.below(dir) {
		w.drop(number)
		_ = raw.Control(func(fd uintptr) { _, _ = unix.InotifyRmWatch(int(fd), uint32(number)) })
	}
}
