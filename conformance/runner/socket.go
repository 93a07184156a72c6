package runner

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// Kernel plays the WebSocket of a Jupyter kernel: it takes one request to run code
// and says what the script has. The request is recorded as "WS path", with the
// message as its body.
type Kernel struct {
	// Parts: the peer knows the subprotocol that sends the parts of a message apart.
	Parts bool   `json:"parts,omitempty"`
	Says  []Says `json:"says"`
}

// Says is one thing that a kernel does. At the end of the script it says nothing
// more, until the client is gone.
type Says struct {
	Type    string `json:"type,omitempty"`    // of the message
	Channel string `json:"channel,omitempty"` // default iopub
	Content any    `json:"content,omitempty"`
	Times   int    `json:"times,omitempty"`   // how often the text of the content is repeated
	Parent  string `json:"parent,omitempty"`  // the id of another request; default that of the one that came; "none"
	Buffers bool   `json:"buffers,omitempty"` // the message has one, which nobody asked for
	Send    *Bytes `json:"send,omitempty"`    // a text message of these bytes instead

	SleepMS int    `json:"sleep_ms,omitempty"`
	WaitFor string `json:"wait_for,omitempty"` // a request of this form has come
	Close   int    `json:"close,omitempty"`    // with this code
}

const protocolParts = "v1.kernel.websocket.jupyter.org"

// kernel plays the script on the connection, which it uses up.
func (a *answer) kernel(k *Kernel) {
	var options websocket.AcceptOptions
	if k.Parts {
		options.Subprotocols = []string{protocolParts}
	}
	conn, err := websocket.Accept(&upgrade{a: a, header: http.Header{}}, a.request, &options)
	if err != nil {
		a.p.broken(err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(64 << 20)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, b, err := conn.Read(ctx)
	if err != nil {
		a.p.abort(a.q)
		return
	}
	asked, err := askedOf(b, k.Parts)
	if err != nil {
		a.p.broken(err)
		return
	}
	id := a.p.heard(a.q, asked)
	gone := conn.CloseRead(ctx)
	for i := range k.Says {
		if !a.says(gone, conn, k, &k.Says[i], id) {
			return
		}
	}
	<-gone.Done()
	a.p.abort(a.q)
}

func (a *answer) says(gone context.Context, conn *websocket.Conn, k *Kernel, s *Says, id string) bool {
	switch {
	case s.SleepMS > 0:
		select {
		case <-gone.Done():
			a.p.abort(a.q)
			return false
		case <-time.After(time.Duration(s.SleepMS) * time.Millisecond):
			return true
		}
	case s.WaitFor != "":
		if !a.p.await(s.WaitFor) {
			a.p.broken(fmt.Errorf("the kernel waited in vain for %s", s.WaitFor))
			return false
		}
		return true
	case s.Close > 0:
		_ = conn.Close(websocket.StatusCode(s.Close), "")
		return false
	case s.Send != nil:
		return conn.Write(gone, websocket.MessageText, s.Send.b) == nil
	}
	kind, b, err := s.message(k, id)
	if err != nil {
		a.p.broken(err)
		return false
	}
	return conn.Write(gone, kind, b) == nil
}

func (s *Says) message(k *Kernel, id string) (websocket.MessageType, []byte, error) {
	if text, ok := s.Content.(map[string]any); ok && s.Times > 0 {
		said, _ := text["text"].(string)
		text["text"] = strings.Repeat(said, s.Times)
	}
	channel, parent := s.Channel, map[string]any{"msg_id": id}
	if channel == "" {
		channel = "iopub"
	}
	switch s.Parent {
	case "":
	case "none":
		parent = map[string]any{}
	default:
		parent["msg_id"] = s.Parent
	}
	header := map[string]any{"msg_id": "m1", "msg_type": s.Type, "session": "k", "version": "5.3"}
	if k.Parts {
		pieces := [][]byte{[]byte(channel)}
		for _, part := range []any{header, parent, map[string]any{}, s.Content} {
			b, err := json.Marshal(part)
			if err != nil {
				return 0, nil, err
			}
			pieces = append(pieces, b)
		}
		if s.Buffers {
			pieces = append(pieces, []byte{0, 1, 2})
		}
		return websocket.MessageBinary, tableOf(pieces), nil
	}
	b, err := json.Marshal(map[string]any{
		"channel": channel, "header": header, "parent_header": parent, "metadata": map[string]any{}, "content": s.Content, "buffers": []any{},
	})
	if !s.Buffers {
		return websocket.MessageText, b, err
	}
	table := binary.BigEndian.AppendUint32(nil, 2)
	table = binary.BigEndian.AppendUint32(table, 12)
	table = binary.BigEndian.AppendUint32(table, uint32(12+len(b)))
	return websocket.MessageBinary, append(append(table, b...), 0, 1, 2), err
}

// tableOf is a message in parts: how many offsets, the offsets, and the parts.
func tableOf(pieces [][]byte) []byte {
	n := len(pieces) + 1
	b := binary.LittleEndian.AppendUint64(nil, uint64(n))
	at := uint64(8 * (n + 1))
	for _, piece := range pieces {
		b = binary.LittleEndian.AppendUint64(b, at)
		at += uint64(len(piece))
	}
	b = binary.LittleEndian.AppendUint64(b, at)
	for _, piece := range pieces {
		b = append(b, piece...)
	}
	return b
}

// asked is a request to a kernel.
type asked struct {
	Channel string         `json:"channel"`
	Header  map[string]any `json:"header"`
	Content map[string]any `json:"content"`
}

func askedOf(b []byte, parts bool) (*asked, error) {
	var m asked
	if !parts {
		return &m, json.Unmarshal(b, &m)
	}
	if len(b) < 8 || binary.LittleEndian.Uint64(b) != 6 || len(b) < 56 {
		return nil, fmt.Errorf("the client sent no message in parts: %s", base64.StdEncoding.EncodeToString(b[:min(len(b), 64)]))
	}
	var pieces [][]byte
	for i := range 5 {
		from, to := binary.LittleEndian.Uint64(b[8*(i+1):]), binary.LittleEndian.Uint64(b[8*(i+2):])
		if from > to || to > uint64(len(b)) {
			return nil, fmt.Errorf("part %d of the client's message ends before it begins", i)
		}
		pieces = append(pieces, b[from:to])
	}
	m.Channel = string(pieces[0])
	if err := json.Unmarshal(pieces[1], &m.Header); err != nil {
		return nil, err
	}
	return &m, json.Unmarshal(pieces[4], &m.Content)
}

// heard records what was asked, without what is new each time, and gives its id.
func (p *Peer) heard(q *Request, m *asked) string {
	id, _ := m.Header["msg_id"].(string)
	body, _ := json.Marshal(map[string]any{"channel": m.Channel, "msg_type": m.Header["msg_type"], "content": m.Content})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, &Request{At: q.At, Method: "WS", Target: q.Target, Header: q.Header, Host: q.Host, Body: body, At0: time.Now(), Matched: true})
	p.news.Broadcast()
	return id
}

// upgrade lets the library take over the connection.
type upgrade struct {
	a      *answer
	header http.Header
}

func (u *upgrade) Header() http.Header { return u.header }

func (u *upgrade) WriteHeader(status int) {
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	for name := range u.header {
		b = fmt.Appendf(b, "%s: %s\r\n", name, u.header.Get(name))
	}
	_, _ = u.a.conn.Write(append(b, "\r\n"...))
}

func (u *upgrade) Write(b []byte) (int, error) { return u.a.conn.Write(b) }

// Hijack gives the connection.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return u.a.conn, bufio.NewReadWriter(u.a.in, bufio.NewWriter(u.a.conn)), nil
}
