// Package splice copies between two stream connections at the speed of
// splice(2) and keeps what TCP means: a half-close stays a half-close, and a
// reset of one side is a reset of the other.
package splice

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Conn is a stream whose directions end one by one: *net.TCPConn,
// *net.UnixConn, *tls.Conn.
type Conn interface {
	net.Conn
	CloseWrite() error
}

// Idle is how long a pair may be without a byte in either direction.
const Idle = time.Hour

// HalfIdle is the same once one direction has ended.
const HalfIdle = 10 * time.Minute

// Join copies both ways until both directions have ended, one is reset, or
// nothing moves for Idle. It closes both.
func Join(a, b Conn) {
	p := &pair{}
	p.idle.Store(int64(Idle))
	ended := make(chan bool, 1)
	go func() { ended <- p.pump(a, b, &p.back, &p.there) }()
	clean := p.pump(b, a, &p.there, &p.back)
	if clean = <-ended && clean; clean {
		_ = a.Close()
		_ = b.Close()
	}
}

// Reset closes a connection so that its peer sees a reset instead of an end.
func Reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

type pair struct {
	idle        atomic.Int64
	there, back direction
}

type direction struct {
	ended atomic.Bool
	bytes atomic.Int64
}

// pump copies src to dst; other is the opposite direction.
func (p *pair) pump(dst, src Conn, own, other *direction) (clean bool) {
	err := p.copy(dst, src, own, other)
	own.ended.Store(true)
	if err != nil || (!other.ended.Load() && vanished(src)) {
		Reset(src)
		Reset(dst)
		return false
	}
	p.idle.Store(int64(HalfIdle))
	// Wakes the other direction, which waits under the longer clock.
	_ = dst.SetReadDeadline(time.Now())
	return dst.CloseWrite() == nil
}

// copy runs until src ends. A direction's count is known only when its own
// deadline fires, so silence is believed when seen twice in a row.
func (p *pair) copy(dst, src Conn, own, other *direction) error {
	for silent, seen := 0, int64(-1); ; {
		round := time.Duration(p.idle.Load()) / 2
		if err := src.SetReadDeadline(time.Now().Add(round)); err != nil {
			return err
		}
		n, err := io.Copy(dst, src)
		own.bytes.Add(n)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		now := other.bytes.Load()
		if silent++; n > 0 || now != seen {
			silent, seen = 0, now
		}
		if silent == 2 {
			return err
		}
	}
}

// vanished tells whether the peer of a unix socket has closed it wholly, where
// only one direction was to end: the wire's form of a reset.
func vanished(c Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return true
	}
	gone := true
	err = raw.Control(func(fd uintptr) {
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(polled, 0)
		gone = err != nil || polled[0].Revents&unix.POLLHUP != 0
	})
	return err != nil || gone
}
