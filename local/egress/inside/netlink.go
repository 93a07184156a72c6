package inside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// netlinkClock bounds the wait for the kernel's answers.
const netlinkClock = 5 * time.Second

// batch is a run of netlink messages that is sent at once. Written by hand
// because the usual libraries cost more at start than the whole of Setup.
type batch struct {
	bytes []byte
	start int
	acks  int
}

func (b *batch) begin(kind, flags uint16) {
	b.start = len(b.bytes)
	b.u32(0)
	b.bytes = binary.NativeEndian.AppendUint16(b.bytes, kind)
	b.bytes = binary.NativeEndian.AppendUint16(b.bytes, flags|unix.NLM_F_REQUEST)
	b.u32(uint32(b.acks + 1))
	b.u32(0)
	if flags&unix.NLM_F_ACK != 0 {
		b.acks++
	}
}

func (b *batch) end() {
	binary.NativeEndian.PutUint32(b.bytes[b.start:], uint32(len(b.bytes)-b.start))
}

func (b *batch) u32(v uint32)     { b.bytes = binary.NativeEndian.AppendUint32(b.bytes, v) }
func (b *batch) raw(data ...byte) { b.bytes = append(b.bytes, data...) }

// attr appends one attribute, padded to four bytes.
func (b *batch) attr(kind uint16, data ...byte) {
	b.bytes = binary.NativeEndian.AppendUint16(b.bytes, uint16(4+len(data)))
	b.bytes = binary.NativeEndian.AppendUint16(b.bytes, kind)
	b.raw(data...)
	b.pad()
}

func (b *batch) text(kind uint16, s string) { b.attr(kind, append([]byte(s), 0)...) }

func (b *batch) big(kind uint16, v uint32) {
	b.attr(kind, binary.BigEndian.AppendUint32(nil, v)...)
}

// nest appends an attribute whose value is what fill appends.
func (b *batch) nest(kind uint16, fill func()) {
	at := len(b.bytes)
	b.u32(0)
	fill()
	binary.NativeEndian.PutUint16(b.bytes[at:], uint16(len(b.bytes)-at))
	binary.NativeEndian.PutUint16(b.bytes[at+2:], kind|unix.NLA_F_NESTED)
	b.pad()
}

func (b *batch) pad() {
	for len(b.bytes)%4 != 0 {
		b.bytes = append(b.bytes, 0)
	}
}

// send hands the batch to the kernel and waits until each message that asked for
// an answer has one. The first refusal is returned as a syscall.Errno.
func (b *batch) send(family int) (err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, family)
	if err != nil {
		return fmt.Errorf("open netlink: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	limit := unix.NsecToTimeval(netlinkClock.Nanoseconds())
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return fmt.Errorf("limit netlink: %w", err)
	}
	if err := unix.Sendto(fd, b.bytes, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("send netlink: %w", err)
	}
	return b.await(fd)
}

func (b *batch) await(fd int) error {
	buf := make([]byte, 16<<10)
	for left := b.acks; left > 0; {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if err != nil {
			return fmt.Errorf("read netlink: %w", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return fmt.Errorf("parse netlink: %w", err)
		}
		for _, m := range messages {
			if err := refusal(m); err != nil {
				return err
			}
			left--
		}
	}
	return nil
}

func refusal(m syscall.NetlinkMessage) error {
	if m.Header.Type != unix.NLMSG_ERROR || len(m.Data) < 4 {
		return nil
	}
	code := int32(binary.NativeEndian.Uint32(m.Data))
	if code == 0 {
		return nil
	}
	return syscall.Errno(-code)
}
