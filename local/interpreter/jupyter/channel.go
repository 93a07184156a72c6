package jupyter

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/go-zeromq/zmq4"
	"github.com/go-zeromq/zmq4/security/null"
)

// readBuffer holds many small messages in one read.
const readBuffer = 64 << 10

// Channel is a connection to one socket of a kernel. One goroutine may receive
// while others send.
type Channel struct {
	session *Session
	wire    *wire
	zmq     *zmq4.Conn
	sending sync.Mutex
}

// wire is a connection that reads and writes in large pieces.
type wire struct {
	net.Conn
	in  *bufio.Reader
	out *bufio.Writer
	// eager sends at once, as the two sides need that introduce themselves in turns.
	eager bool
}

func (w *wire) Read(p []byte) (int, error) { return w.in.Read(p) }

func (w *wire) Write(p []byte) (int, error) {
	n, err := w.out.Write(p)
	if err == nil && w.eager {
		err = w.out.Flush()
	}
	return n, err
}

// Dial connects to a socket of the kernel. A subscription is to everything.
func (s *Session) Dial(ctx context.Context, at Endpoint) (*Channel, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, at.network, at.address)
	if err != nil {
		return nil, err
	}
	kind := zmq4.Dealer
	if at.publishes {
		kind = zmq4.Sub
	}
	w := &wire{Conn: conn, in: bufio.NewReaderSize(conn, readBuffer), out: bufio.NewWriter(conn), eager: true}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	z, err := zmq4.Open(w, null.Security(), kind, zmq4.SocketIdentity(s.id), false, nil)
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("jupyter: %s: %w", at.name, err)
	}
	w.eager = false
	c := &Channel{session: s, wire: w, zmq: z}
	if at.publishes {
		// A subscription is a message: 1, then the prefix of what is wanted.
		if err := c.write([]byte{1}); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return c, nil
}

// Send sends a request.
func (c *Channel) Send(r *Request) error { return c.write(r.frames...) }

func (c *Channel) write(frames ...[]byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.zmq.SendMsg(zmq4.NewMsgFrom(frames...)); err != nil {
		return err
	}
	return c.wire.out.Flush()
}

// Receive waits for the next message of the kernel. What the kernel did not
// sign is left out.
func (c *Channel) Receive() (*Message, error) {
	for {
		frames, err := c.read()
		if err != nil {
			return nil, err
		}
		if m, err := c.session.parse(frames); err == nil {
			return m, nil
		}
	}
}

// read reads one message. Whoever took the kernel's place may claim any length
// for it, which the library then tries to make room for.
func (c *Channel) read() (frames [][]byte, err error) {
	defer func() {
		if recover() != nil {
			err = errLength
		}
	}()
	raw, err := c.zmq.RecvMsg()
	return raw.Frames, err
}

var errLength = errors.New("jupyter: impossible length of a message")

// More reports whether a part of another message is here already.
func (c *Channel) More() bool { return c.wire.in.Buffered() > 0 }

// Close ends the connection; a Receive under way fails.
func (c *Channel) Close() error { return c.wire.Conn.Close() }
