//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/agent-sandbox/agent-sandbox/core/handle"
)

// bare is a keep-alive TCP socket that sends prepared bytes and reads up to the
// end of the answer: what an exchange costs without any client.
type bare struct {
	conn net.Conn
	r    *bufio.Reader
	head string
}

func (b *bench) bare(h handle.Handle) (*bare, error) {
	addr := strings.TrimPrefix(b.server.SandboxURL, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	head := "Host: " + addr + "\r\nE2b-Sandbox-Id: " + h.SandboxID + "\r\nE2b-Sandbox-Port: 49983\r\nX-Access-Token: " + h.Tokens.Envd +
		"\r\nConnect-Protocol-Version: 1\r\nAuthorization: Basic " + base64.StdEncoding.EncodeToString([]byte("user:")) + "\r\n"
	return &bare{conn, bufio.NewReaderSize(conn, 64<<10), head}, nil
}

func (b *bare) close() { _ = b.conn.Close() }

func (b *bare) run(json bool) error {
	if json {
		return b.exchange("/process.Process/Start", "application/connect+json", envelope([]byte(`{"process":{"cmd":"/bin/bash","args":["-l","-c","true"]},"stdin":false}`)))
	}
	text := func(m []byte, n protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
	}
	config := text(text(text(text(nil, 1, "/bin/bash"), 2, "-l"), 2, "-c"), 2, "true")
	m := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), config)
	m = protowire.AppendVarint(protowire.AppendTag(m, 4, protowire.VarintType), 0)
	return b.exchange("/process.Process/Start", "application/connect+proto", envelope(m))
}

func (b *bare) stat(json bool) error {
	if json {
		return b.exchange("/filesystem.Filesystem/Stat", "application/json", []byte(`{"path":"/etc/passwd"}`))
	}
	m := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "/etc/passwd")
	return b.exchange("/filesystem.Filesystem/Stat", "application/proto", m)
}

func envelope(m []byte) []byte {
	e := make([]byte, 5, 5+len(m))
	binary.BigEndian.PutUint32(e[1:], uint32(len(m)))
	return append(e, m...)
}

func (b *bare) exchange(path, contentType string, body []byte) error {
	request := "POST " + path + " HTTP/1.1\r\n" + b.head + "Content-Type: " + contentType + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n"
	if _, err := b.conn.Write(append([]byte(request), body...)); err != nil {
		return err
	}
	status, err := b.r.ReadString('\n')
	if err != nil {
		return err
	}
	if !strings.Contains(status, " 200 ") {
		return errors.New("bare socket: " + strings.TrimSpace(status))
	}
	length, err := b.headers()
	if err != nil {
		return err
	}
	if length >= 0 {
		_, err = io.CopyN(io.Discard, b.r, length)
		return err
	}
	return b.chunks()
}

// headers reads to the blank line; -1 = chunked.
func (b *bare) headers() (int64, error) {
	length := int64(-1)
	for {
		line, err := b.r.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			return length, nil
		}
		if v, ok := bytes.CutPrefix(bytes.ToLower(line), []byte("content-length:")); ok {
			length, _ = strconv.ParseInt(string(bytes.TrimSpace(v)), 10, 64)
		}
	}
}

func (b *bare) chunks() error {
	for {
		line, err := b.r.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return fmt.Errorf("bare socket: %w", err)
		}
		if _, err := io.CopyN(io.Discard, b.r, n+2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
