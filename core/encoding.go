package core

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

func isGzip(resp *transport.Response) bool {
	return strings.EqualFold(resp.Header.Get("content-encoding"), "gzip")
}

func badGzip(err error) error {
	return fault.New(fault.CodeProtocol, "the peer broke the protocol: its gzip body is damaged").Because(err)
}
