package egress

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// peekClock bounds the wait for the first bytes that name a host.
	peekClock = 5 * time.Second
	// maxPeek bounds these bytes.
	maxPeek = 16 << 10
)

// opening is what a client sent first.
type opening struct {
	bytes []byte
	name  string // canonical; "" when it names none
	tls   bool
	http  bool
}

// sniff reads just enough to know the host's name by TLS SNI or HTTP Host. What
// is neither gives an opening without a name; the error is that of reading.
func sniff(c net.Conn) (opening, error) {
	if err := c.SetReadDeadline(time.Now().Add(peekClock)); err != nil {
		return opening{}, err
	}
	buf := make([]byte, 0, 2048)
	for {
		o, done := parseOpening(buf)
		if done || len(buf) >= maxPeek {
			return o, c.SetReadDeadline(time.Time{})
		}
		if len(buf) == cap(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := c.Read(buf[len(buf):min(cap(buf), maxPeek)])
		buf = buf[:len(buf)+n]
		if err != nil {
			o, _ = parseOpening(buf)
			return o, err
		}
	}
}

// parseOpening tells what b is so far, and whether more bytes could tell more.
func parseOpening(b []byte) (o opening, done bool) {
	o.bytes = b
	switch {
	case len(b) == 0:
		return o, false
	case b[0] == 0x16:
		o.name, done = serverName(b)
		o.tls = done
		return o, done
	case b[0] < 'A' || b[0] > 'Z':
		return o, true
	}
	if !bytes.Contains(b, []byte("\r\n\r\n")) && !bytes.Contains(b, []byte("\n\n")) {
		return o, false
	}
	req, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(b)))
	if err == nil {
		o.http, o.name = true, hostOf(req.Host)
	}
	return o, true
}

var errSeen = errors.New("seen")

// serverName reads the SNI of a ClientHello with the standard library's parser.
// done is false while bytes are missing.
func serverName(b []byte) (name string, done bool) {
	if len(b) < 5 || len(b) < 5+int(b[3])<<8|int(b[4]) {
		return "", false
	}
	conn := &recorded{Reader: bytes.NewReader(b)}
	err := tls.Server(conn, &tls.Config{
		GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			name = canonical(h.ServerName)
			return nil, errSeen
		},
	}).Handshake()
	if errors.Is(err, errSeen) {
		return name, true
	}
	return "", !conn.dry
}

// recorded plays bytes to a TLS server and swallows its answers.
type recorded struct {
	*bytes.Reader
	net.Conn
	dry bool
}

func (r *recorded) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.dry = r.dry || errors.Is(err, io.EOF)
	return n, err
}

func (r *recorded) Write(b []byte) (int, error)      { return len(b), nil }
func (r *recorded) Close() error                     { return nil }
func (r *recorded) SetDeadline(time.Time) error      { return nil }
func (r *recorded) SetReadDeadline(time.Time) error  { return nil }
func (r *recorded) SetWriteDeadline(time.Time) error { return nil }

// hostOf gives the canonical host of a Host header: a name or an address.
func hostOf(header string) string {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	if len(host) > 2 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.String()
	}
	return canonical(host)
}
