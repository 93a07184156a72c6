//go:build linux

package isolation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"

	"golang.org/x/sys/unix"
)

// Host ids for sandboxes: a part of the 32-bit space that no distribution
// gives to users or containers (systemd's table of ids leaves it free).
const (
	firstID  = 0x70000000
	rangeLen = 0x10000
	ranges   = 0x0ffd
)

// idRanges hands out ranges of host ids, each to one sandbox on this machine
// at a time. A range is reserved by an abstract socket address, which the
// kernel frees with its holder, however that ends.
type idRanges struct{}

func newIDRanges() *idRanges { return &idRanges{} }

// idRange is one reserved range.
type idRange struct {
	base int
	hold *os.File
}

var errNoIDs = errors.New("no free range of user ids")

func (r *idRanges) take() (*idRange, error) {
	start := rand.IntN(ranges)
	for i := range ranges {
		n := (start + i) % ranges
		f, err := reserve(n)
		if errors.Is(err, unix.EADDRINUSE) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return &idRange{base: firstID + n*rangeLen, hold: f}, nil
	}
	return nil, errNoIDs
}

func reserve(n int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "ids")
	name := fmt.Sprintf("@agent-sandbox/ids/%d", n)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: name}); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (r *idRange) free() { _ = r.hold.Close() }
