//go:build linux

package isolation

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// disk is where one sandbox writes.
type disk struct {
	// tree is a mounted file system of its own, nil for a plain directory.
	tree *os.File
	// dir is the plain directory.
	dir string
	// size in bytes.
	size int64
}

func (d *disk) close() {
	if d.tree != nil {
		_ = d.tree.Close()
	}
}

// diskPool keeps mounted disks of the default size ready, because making one
// takes longer than starting a sandbox may. A disk is a file without a name on
// a loop device that frees itself, in a mount that no namespace holds: the end
// of this process, however it comes, leaves nothing of it.
type diskPool struct {
	dir   string
	log   *slog.Logger
	ready chan *disk
	want  chan struct{}
	stop  context.CancelFunc
	done  sync.WaitGroup
	// broken says why no disk can be made; valid after the first attempt.
	mu     sync.Mutex
	broken error
}

// poolDelay keeps the first disks from competing with a program that only
// wants one sandbox, at once.
const poolDelay = 150 * time.Millisecond

func newDiskPool(dir string, size int, log *slog.Logger) *diskPool {
	ctx, stop := context.WithCancel(context.Background())
	p := &diskPool{dir: dir, log: log, ready: make(chan *disk, size), stop: stop}
	if size > 0 {
		p.done.Go(func() { p.fill(ctx) })
	}
	return p
}

func (p *diskPool) fill(ctx context.Context) {
	wait := poolDelay
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = 0
		d, err := makeDisk(ctx, p.dir, DefaultDiskMB*mebibyte)
		p.setBroken(err)
		if err != nil {
			p.log.Info("disks are watched, not enforced", "error", err)
			return
		}
		select {
		case p.ready <- d:
		case <-ctx.Done():
			d.close()
			return
		}
	}
}

func (p *diskPool) setBroken(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = err
}

// why says why no disk came from the pool.
func (p *diskPool) why() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return "watched: " + p.broken.Error()
	}
	return "watched"
}

// DiskReady tells whether the next sandbox gets a disk whose limit is
// enforced.
func (e *Engine) DiskReady() bool { return len(e.disks.ready) > 0 }

// take gives a disk of size bytes, or nil when none is ready.
func (p *diskPool) take(size int64) *disk {
	if size != DefaultDiskMB*mebibyte {
		return nil
	}
	select {
	case d := <-p.ready:
		return d
	default:
		return nil
	}
}

func (p *diskPool) close() {
	p.stop()
	p.done.Wait()
	for {
		select {
		case d := <-p.ready:
			d.close()
		default:
			return
		}
	}
}

// makeDiskTimeout bounds mkfs.
const makeDiskTimeout = 20 * time.Second

// makeDisk makes and mounts an empty ext4 of size bytes.
func makeDisk(ctx context.Context, dir string, size int64) (*disk, error) {
	image := filepath.Join(dir, "disk.img")
	f, err := os.OpenFile(image, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer os.Remove(image)
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, makeDiskTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mkfs.ext4", "-q", "-F", "-m0", "-O", "^has_journal,^resize_inode",
		"-E", "lazy_itable_init=1,nodiscard", "-N", "131072", image)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("mkfs.ext4: %w: %.200s", err, out)
	}
	tree, err := mountImage(f)
	if err != nil {
		return nil, err
	}
	return &disk{tree: tree, size: size}, nil
}

// mountImage mounts the file system in f; the tree is the only hold on it.
func mountImage(f *os.File) (*os.File, error) {
	loop, err := attachLoop(f)
	if err != nil {
		return nil, err
	}
	defer loop.Close()
	fs, err := unix.Fsopen("ext4", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("fsopen: %w", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigSetString(fs, "source", loop.Name()); err != nil {
		return nil, fmt.Errorf("disk source: %w", err)
	}
	if err := unix.FsconfigCreate(fs); err != nil {
		return nil, fmt.Errorf("disk: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NODEV|unix.MOUNT_ATTR_NOSUID)
	if err != nil {
		return nil, fmt.Errorf("fsmount: %w", err)
	}
	return os.NewFile(uintptr(fd), "disk"), nil
}

// loopTries bounds the race with others for a free loop device.
const loopTries = 16

func attachLoop(f *os.File) (*os.File, error) {
	ctl, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer ctl.Close()
	for range loopTries {
		n, err := unix.IoctlRetInt(int(ctl.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("loop device: %w", err)
		}
		loop, err := os.OpenFile(fmt.Sprintf("/dev/loop%d", n), os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		err = configureLoop(loop, f)
		if err == nil {
			return loop, nil
		}
		_ = loop.Close()
		if err != unix.EBUSY {
			return nil, fmt.Errorf("loop device: %w", err)
		}
	}
	return nil, fmt.Errorf("loop device: %w", unix.EBUSY)
}

func configureLoop(loop, f *os.File) error {
	return unix.IoctlLoopConfigure(int(loop.Fd()), &unix.LoopConfig{
		Fd:   uint32(f.Fd()),
		Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR},
	})
}
