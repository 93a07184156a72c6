package core

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/envd"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/plane"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// Files reads, writes and watches the files of one sandbox. A path is data: it
// is sent as it is. Relative paths and ~ are under the user's home.
type Files struct{ s *Sandbox }

// Entry describes one file or directory.
type Entry = plane.Entry

// WriteInfo is what a write answers.
type WriteInfo = plane.WriteInfo

// The file types.
const (
	TypeFile      = plane.TypeFile
	TypeDirectory = plane.TypeDirectory
	TypeSymlink   = plane.TypeSymlink
)

// FileOptions shape a read or another call about a path.
type FileOptions struct {
	User   string // "" = the sandbox's default user
	Gzip   bool   // let the sandbox compress on the way; slow for data that does not shrink
	Offset int64  // first byte to read
	Length int64  // bytes to read; 0 = to the end
	// Irregular lists dangling links, pipes, sockets and devices too; like E2B's
	// SDKs, List leaves them out otherwise (e2b.md 4.3).
	Irregular bool
	// IdleTimeout bounds the wait between chunks of a stream; 0 = none; nil = the
	// client's (60 s).
	IdleTimeout *time.Duration
}

// Read gives a file's exact bytes; an empty file gives an empty, non-nil slice.
func (f *Files) Read(ctx context.Context, path string, o FileOptions) ([]byte, error) {
	resp, err := f.open(ctx, path, o, false)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := f.collect(ctx, resp, o)
	if err != nil {
		return nil, f.cut(ctx, err)
	}
	if b == nil {
		b = []byte{}
	}
	if b, err = decompressed(resp, b); err != nil {
		return nil, err
	}
	if o.ignored(resp) {
		b = b[min(o.Offset, int64(len(b))):]
		if o.Length > 0 {
			b = b[:min(o.Length, int64(len(b)))]
		}
	}
	return b, nil
}

// ignored tells whether a peer gave the whole file where a part was asked for.
func (o *FileOptions) ignored(resp *transport.Response) bool {
	return resp.Status == 200 && (o.Offset != 0 || o.Length != 0)
}

// ReadText gives a file as text: broken UTF-8 becomes U+FFFD, so a binary file
// is lossy here. Use Read for bytes.
func (f *Files) ReadText(ctx context.Context, path string, o FileOptions) (string, error) {
	b, err := f.Read(ctx, path, o)
	return toText(b), err
}

// transferArea classifies what goes wrong inside a body.
var transferArea = connect.Area{Missing: fault.CodeFileNotFound, Exists: fault.CodePathKind, Denied: fault.CodeFilePermission, Route: fault.CodeFileNotFound, Other: fault.CodeFileOperation}

// cut is the error of a body that did not come whole: when the sandbox is gone, it
// says so.
func (f *Files) cut(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	return f.failed(ctx, f.s.data.Explain(ctx, connect.Classify(ctx, err, transferArea)))
}

// collect reads a body under the idle clock; there is no clock on the whole.
func (f *Files) collect(ctx context.Context, resp *transport.Response, o FileOptions) ([]byte, error) {
	lively, alive, disarm := f.s.client.host.Limit(ctx, transport.ClockIdle, orElse(o.IdleTimeout, f.s.client.settings.IdleTimeout))
	defer disarm()
	var all blocks
	for {
		chunk, err := resp.Body.Next(lively)
		if errors.Is(err, io.EOF) {
			return all.join(), nil
		}
		if err != nil {
			return nil, err
		}
		alive()
		all.write(chunk)
	}
}

// Open streams a file: memory stays bounded whatever its size. The caller closes
// the stream. The request clock runs until the head, the idle clock between chunks.
func (f *Files) Open(ctx context.Context, path string, o FileOptions) (io.ReadCloser, error) {
	resp, err := f.open(ctx, path, o, true)
	if err != nil {
		return nil, err
	}
	if o.ignored(resp) && resp.Header.Get("content-length") != "0" {
		resp.Body.Close()
		return nil, f.failed(ctx, fault.New(fault.CodeProtocol, "the peer broke the protocol: it gave the whole file where a part was asked for"))
	}
	stream := resp.Body.ToHost(orElse(o.IdleTimeout, f.s.client.settings.IdleTimeout))
	return f.explained(ctx, decompressing(resp, stream)), nil
}

func (f *Files) open(ctx context.Context, path string, o FileOptions, bulk bool) (*transport.Response, error) {
	if err := f.check("path", path, o.User); err != nil {
		return nil, err
	}
	if o.Offset < 0 || o.Length < 0 {
		return nil, fault.InvalidArgument("%s and %s must not be negative", fault.Option("offset"), fault.Option("length"))
	}
	if err := checkTimeout("idle_timeout_ms", o.IdleTimeout); err != nil {
		return nil, err
	}
	if o.Offset != 0 || o.Length != 0 {
		if err := f.s.client.need(capability.FilesRange); err != nil {
			return nil, err
		}
	}
	resp, err := f.s.data.Read(ctx, plane.ReadSpec{Path: path, User: o.User, Gzip: o.Gzip, Offset: o.Offset, Length: o.Length, Bulk: bulk})
	return resp, f.failed(ctx, err)
}

func (f *Files) check(option fault.Option, path, user string) error {
	if err := f.s.client.need(capability.Files); err != nil {
		return err
	}
	if err := checkPath(option, path); err != nil {
		return err
	}
	return checkUser(user)
}

func (f *Files) failed(ctx context.Context, err error) error {
	return about(cancelled(ctx, err), f.s.ID())
}

// WriteOptions shape a write.
type WriteOptions struct {
	User      string
	Metadata  map[string]string // kept with the file, replaced as a whole by each write
	Multipart bool              // send as a form; default is the plain body
	Gzip      bool              // compress on the way
}

// Write writes bytes, making parents; an existing file is replaced.
func (f *Files) Write(ctx context.Context, path string, b []byte, o WriteOptions) (*WriteInfo, error) {
	if err := f.check("path", path, o.User); err != nil {
		return nil, err
	}
	if b == nil {
		b = []byte{}
	}
	info, err := f.s.data.Write(ctx, plane.WriteSpec{Path: path, User: o.User, Bytes: b, Metadata: o.Metadata, Multipart: o.Multipart, Gzip: o.Gzip})
	return info, f.failed(ctx, err)
}

// WriteText writes text as UTF-8.
func (f *Files) WriteText(ctx context.Context, path, text string, o WriteOptions) (*WriteInfo, error) {
	return f.Write(ctx, path, []byte(text), o)
}

// WriteSource writes what the host streams: memory stays bounded.
func (f *Files) WriteSource(ctx context.Context, path string, source transport.Source, o WriteOptions) (*WriteInfo, error) {
	if err := f.check("path", path, o.User); err != nil {
		return nil, err
	}
	info, err := f.s.data.Write(ctx, plane.WriteSpec{Path: path, User: o.User, Source: source, Metadata: o.Metadata, Multipart: o.Multipart, Gzip: o.Gzip})
	return info, f.failed(ctx, err)
}

// File is one of several files to write.
type File struct {
	Path   string
	Bytes  []byte
	Source transport.Source // instead of Bytes
}

// parallel is how many files travel at once.
const parallel = 8

// WriteMany writes several files; answers are in their order. An empty list is
// no request. Parents are made; the first error ends the rest.
func (f *Files) WriteMany(ctx context.Context, files []File, o WriteOptions) ([]WriteInfo, error) {
	seen := map[string]bool{}
	for _, file := range files {
		if err := f.check("path", file.Path, o.User); err != nil {
			return nil, err
		}
		if seen[file.Path] {
			return nil, fault.InvalidArgument("%s %s is there twice", fault.Option("path"), shorten(file.Path))
		}
		seen[file.Path] = true
	}
	if len(files) > 1 && oneForm(files) {
		return f.writeForm(ctx, files, o)
	}
	infos := make([]WriteInfo, len(files))
	err := f.s.client.host.Par(ctx, parallel, len(files), func(ctx context.Context, i int) error {
		info, err := f.s.data.Write(ctx, plane.WriteSpec{
			Path: files[i].Path, User: o.User, Bytes: files[i].Bytes, Source: files[i].Source, Metadata: o.Metadata, Multipart: o.Multipart, Gzip: o.Gzip,
		})
		if err == nil {
			infos[i] = *info
		}
		return err
	})
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	return infos, nil
}

// maxForm is what is worth sending as one form held in memory.
const maxForm = 4 << 20

// oneForm: many small files cost one request, where their names allow it.
func oneForm(files []File) bool {
	total := 0
	for _, f := range files {
		total += len(f.Bytes) + len(f.Path) + 200
		if f.Source != nil || !envd.MultipartSafe(f.Path) || strings.HasPrefix(f.Path, "~") {
			return false
		}
	}
	return total <= maxForm
}

func (f *Files) writeForm(ctx context.Context, files []File, o WriteOptions) ([]WriteInfo, error) {
	specs := make([]plane.WriteSpec, len(files))
	for i, file := range files {
		specs[i] = plane.WriteSpec{Path: file.Path, Bytes: file.Bytes}
	}
	infos, err := f.s.data.WriteMany(ctx, o.User, o.Metadata, specs)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	if len(infos) != len(files) {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: it wrote %d of %d files", len(infos), len(files))
	}
	return infos, nil
}
