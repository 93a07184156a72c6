//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// files measures a large upload and download: curl on the same signed URLs, our
// client, the npm client without and with the gzip that it asks for by default.
func (b *bench) files(ctx context.Context) error {
	// In memory on both sides, so that no disk hides the clients.
	return b.beside(ctx, core.CreateOptions{MemoryMB: 4096}, func(s *native.Sandbox, peer *process) error { return b.bulkFiles(ctx, s, peer) })
}

func (b *bench) bulkFiles(ctx context.Context, s *native.Sandbox, peer *process) error {
	size := 1 << 30
	if b.quick {
		size = 100 << 20
	}
	dir, err := os.MkdirTemp("/dev/shm", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	src, dst := filepath.Join(dir, "src"), filepath.Join(dir, "dst")
	if err := randomFile(src, size); err != nil {
		return err
	}
	up, err := s.UploadURL(bigFile, core.URLOptions{})
	if err != nil {
		return err
	}
	down, err := s.DownloadURL(bigFile, core.URLOptions{})
	if err != nil {
		return err
	}
	theirs := func(job map[string]any) func() error {
		return func() error { _, _, err := peer.once(job); return err }
	}
	out, err := medians(size, []transfer{
		{"upload, curl", curl(ctx, "-X", "POST", "-H", "Content-Type: application/octet-stream", "-H", "Expect:", "-T", src, up)},
		{"upload, ours (Go)", func() error { return upload(ctx, s, src) }},
		{"upload, npm e2b", theirs(map[string]any{"op": "upload", "from": src, "to": bigFile})},
		{"download, curl", curl(ctx, "-o", dst, down)},
		{"download, ours (Go)", func() error { return download(ctx, s, dst) }},
		{"download, npm e2b, gzip off", theirs(map[string]any{"op": "download", "from": bigFile, "to": dst, "gzip": false})},
		{"download, npm e2b, gzip on", theirs(map[string]any{"op": "download", "from": bigFile, "to": dst, "gzip": true})},
	})
	if err != nil {
		return err
	}
	table(fmt.Sprintf("Files of %d MiB of random bytes", size>>20), []string{"what", "MB/s (median of 3)"}, out...)
	return b.fileMemory(ctx, s, src, dst, size)
}

// transfer is one row.
type transfer struct {
	name string
	do   func() error
}

// medians runs each transfer three times.
func medians(size int, rows []transfer) ([][]string, error) {
	var out [][]string
	for _, r := range rows {
		var took samples
		for range 3 {
			d, err := timed(r.do)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			took = append(took, d)
		}
		out = append(out, []string{r.name, rate(size, took.p50())})
	}
	return out, nil
}

func curl(ctx context.Context, args ...string) func() error {
	return func() error { return exec.CommandContext(ctx, "curl", append([]string{"-sf"}, args...)...).Run() }
}

// bigFile is where the file lies in the sandbox.
const bigFile = "/dev/shm/big"

func upload(ctx context.Context, s *native.Sandbox, src string) error {
	f, err := os.Open(src)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = s.Files.WriteFrom(ctx, bigFile, f, -1, core.WriteOptions{})
	return err
}

func download(ctx context.Context, s *native.Sandbox, dst string) error {
	r, err := s.Files.Open(ctx, bigFile, core.FileOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	f, err := os.Create(dst)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// fileMemory runs the command line so that the memory is a client's alone.
func (b *bench) fileMemory(ctx context.Context, s *native.Sandbox, src, dst string, size int) error {
	upTook, upRSS, err := b.cli(ctx, "upload", s.ID(), src, bigFile)
	if err != nil {
		return err
	}
	downTook, downRSS, err := b.cli(ctx, "download", s.ID(), bigFile, dst)
	if err != nil {
		return err
	}
	table("The same by `sandboxc`", []string{"what", "MB/s", "peak RSS of the client, MiB"},
		[]string{"upload", rate(size, upTook), strconv.FormatInt(upRSS>>10, 10)},
		[]string{"download", rate(size, downTook), strconv.FormatInt(downRSS>>10, 10)})
	return nil
}

// cli runs sandboxc on the bench's server; its peak RSS is in KiB.
func (b *bench) cli(ctx context.Context, args ...string) (time.Duration, int64, error) {
	cmd := exec.CommandContext(ctx, sandboxc(), args...)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+b.dir, "HOME="+b.dir, "SANDBOX_PROVIDER=local")
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return 0, 0, err
	}
	var peak int64
	took, err := timed(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		stop := watchPeak(cmd.Process.Pid, &peak)
		_, err := io.Copy(io.Discard, pipe)
		stop()
		return errors.Join(err, cmd.Wait())
	})
	if err != nil {
		return 0, 0, fmt.Errorf("sandboxc %s: %w", args[0], err)
	}
	return took, peak, nil
}

// watchPeak reads a process's peak RSS in KiB again and again: what wait(2) gives
// holds this program's own memory, from before the exec.
func watchPeak(pid int, peak *int64) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	status := filepath.Join("/proc", strconv.Itoa(pid), "status")
	go func() {
		defer close(done)
		for {
			*peak = max(*peak, field(status, "VmHWM:"))
			select {
			case <-quit:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() { close(quit); <-done }
}

func randomFile(path string, size int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.CopyN(f, rand.Reader, int64(size))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
