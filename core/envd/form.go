package envd

import (
	"encoding/hex"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// form writes multipart/form-data whose every part is a file named "file"
// (e2b.md 3.2). mime/multipart would drag net/textproto into the core.
type form struct{ boundary string }

func newForm(h transport.Host) form {
	var b [16]byte
	h.Rand(b[:])
	return form{"form-" + hex.EncodeToString(b[:])}
}

func (f form) contentType() string { return "multipart/form-data; boundary=" + f.boundary }

func (f form) partHead(name string) string {
	return "--" + f.boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + quoteFilename(name) +
		"\"\r\nContent-Type: application/octet-stream\r\n\r\n"
}

func (f form) close() string { return "--" + f.boundary + "--\r\n" }

// single frames one file around its bytes or source. The path travels in the
// query, so the file name here need not be exact.
func (f form) single(path string, body transport.Body) transport.Body {
	head, tail := []byte(f.partHead(MultipartName(path))), []byte("\r\n"+f.close())
	if body.Source != nil {
		return transport.Body{Prefix: head, Source: body.Source, Suffix: tail, Gzip: body.Gzip}
	}
	return transport.Body{Bytes: append(append(head, body.Bytes...), tail...), Gzip: body.Gzip}
}

func (f form) many(files []plane.WriteSpec) []byte {
	var b []byte
	for _, file := range files {
		b = append(b, f.partHead(file.Path)...)
		b = append(b, file.Bytes...)
		b = append(b, "\r\n"...)
	}
	return append(b, f.close()...)
}

// MultipartSafe tells whether a path can stand in a part's file name and come
// out as the same bytes.
func MultipartSafe(path string) bool {
	return !strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// MultipartName is path, or a stand-in where it cannot be written.
func MultipartName(path string) string {
	if MultipartSafe(path) {
		return path
	}
	return "file"
}

func quoteFilename(s string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) }
