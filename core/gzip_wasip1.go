package core

import (
	"io"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Bodies go to their caller past the WebAssembly core: the host undoes their
// compression (Files.Deliver). What would undo it here costs 0.1 MB.

func decompressed(resp *transport.Response, b []byte) ([]byte, error) {
	if isGzip(resp) && len(b) > 0 {
		return nil, badGzip(io.ErrUnexpectedEOF)
	}
	return b, nil
}

func decompressing(_ *transport.Response, s io.ReadCloser) io.ReadCloser { return s }
