package method

import (
	"context"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// FilePath names a file or directory.
type FilePath struct {
	Path string `json:"path" arg:"1"`   // relative ones are under the user's home
	User string `json:"user,omitempty"` // whose rights and home; default: the sandbox's user
}

func (p *FilePath) options() core.FileOptions { return core.FileOptions{User: p.User} }

// FilesRead reads a file. Errors: E4001 when it is missing, E4002 when it may not
// be read, E4003 when it is a directory.
type FilesRead struct {
	FilePath
	Gzip          bool   `json:"gzip,omitempty"`            // let the sandbox compress on the way; slow for data that does not shrink
	Offset        int64  `json:"offset,omitempty"`          // the first byte
	Length        int64  `json:"length,omitempty"`          // how many bytes; default: to the end
	IdleTimeoutMS *int64 `json:"idle_timeout_ms,omitempty"` // between chunks; 0 = none
}

// Delivered says how much of a body the caller got from its host.
type Delivered struct {
	Bytes int64 `json:"bytes"` // after decompression and cutting
}

// WriteOptions are what all ways to write share.
type WriteOptions struct {
	User      string            `json:"user,omitempty"`      // whose rights and home; default: the sandbox's user
	Metadata  map[string]string `json:"metadata,omitempty"`  // kept with the file, replaced as a whole by each write
	Multipart bool              `json:"multipart,omitempty"` // send as a form; default: the plain body
	Gzip      bool              `json:"gzip,omitempty"`      // compress on the way
}

func (p *WriteOptions) options() core.WriteOptions {
	return core.WriteOptions{User: p.User, Metadata: p.Metadata, Multipart: p.Multipart, Gzip: p.Gzip}
}

// FilesWrite writes a file, making parents; an existing one is replaced. Errors:
// E4002 when it may not be written, E4003 when it is a directory, E4004 when the
// disk is full.
type FilesWrite struct {
	Path   string     `json:"path" arg:"1"`     // relative ones are under the user's home
	Source *SourceRef `json:"source,omitempty"` // the data; default: the attached bytes
	WriteOptions
}

// FilesWriteFiles writes several files; answers are in their order. An empty list
// is no request. Errors: as write; the first one ends the rest.
type FilesWriteFiles struct {
	Files []FileToWrite `json:"files" arg:"1"` // each path once
	WriteOptions
}

// FileToWrite is one of several files.
type FileToWrite struct {
	Path   string     `json:"path"`             // relative ones are under the user's home
	Source *SourceRef `json:"source,omitempty"` // the data; default: the next size of the attached bytes
	Size   int        `json:"size,omitempty"`   // how many of the attached bytes, without a source
}

// FilesList lists a directory. Errors: E4001 when it is missing, E4003 when it is
// no directory.
type FilesList struct {
	FilePath
	Depth     int  `json:"depth,omitempty"`     // levels; default: 1
	Irregular bool `json:"irregular,omitempty"` // dangling links, pipes, sockets and devices, too
}

// FilesGetInfo describes a file or directory. Errors: E4001 when it is missing.
type FilesGetInfo struct{ FilePath }

// FilesExists tells whether a path exists.
type FilesExists struct{ FilePath }

// FilesMakeDir makes a directory and its parents; false when it exists already.
// Errors: E4003 when a parent is no directory.
type FilesMakeDir struct{ FilePath }

// FilesRemove removes a path and everything below it; a missing one is no error.
type FilesRemove struct{ FilePath }

// FilesRename moves a path, making the destination's parents. Errors: E4001 when
// it is missing.
type FilesRename struct {
	Source      string `json:"source" arg:"1"`      // relative ones are under the user's home
	Destination string `json:"destination" arg:"2"` // where to; an existing file is replaced
	User        string `json:"user,omitempty"`      // whose rights and home; default: the sandbox's user
}

func files() []Method {
	return []Method{
		shaped("files.read", Read, readFile),
		shaped("files.write", Write, writeFile),
		shaped("files.write_files", Write, writeFiles),
		onSandbox("files.list", func(ctx context.Context, s *core.Sandbox, p *FilesList) ([]core.Entry, error) {
			return s.Files.List(ctx, p.Path, p.Depth, core.FileOptions{User: p.User, Irregular: p.Irregular})
		}),
		onSandbox("files.get_info", func(ctx context.Context, s *core.Sandbox, p *FilesGetInfo) (*core.Entry, error) {
			return s.Files.Stat(ctx, p.Path, p.options())
		}),
		onSandbox("files.exists", func(ctx context.Context, s *core.Sandbox, p *FilesExists) (bool, error) {
			return s.Files.Exists(ctx, p.Path, p.options())
		}),
		onSandbox("files.make_dir", func(ctx context.Context, s *core.Sandbox, p *FilesMakeDir) (bool, error) {
			return s.Files.MakeDir(ctx, p.Path, p.options())
		}),
		onSandbox("files.remove", func(ctx context.Context, s *core.Sandbox, p *FilesRemove) (none, error) {
			return nil, s.Files.Remove(ctx, p.Path, p.options())
		}),
		onSandbox("files.rename", func(ctx context.Context, s *core.Sandbox, p *FilesRename) (*core.Entry, error) {
			return s.Files.Move(ctx, p.Source, p.Destination, core.FileOptions{User: p.User})
		}),
	}
}

func readFile(ctx context.Context, _ *Call, s *core.Sandbox, p *FilesRead) (*Delivered, error) {
	n, err := s.Files.Deliver(ctx, p.Path, core.FileOptions{
		User: p.User, Gzip: p.Gzip, Offset: p.Offset, Length: p.Length, IdleTimeout: duration(p.IdleTimeoutMS),
	})
	return &Delivered{n}, err
}

func writeFile(ctx context.Context, c *Call, s *core.Sandbox, p *FilesWrite) (*core.WriteInfo, error) {
	if p.Source == nil {
		return s.Files.Write(ctx, p.Path, c.Attached, p.options())
	}
	return s.Files.WriteSource(ctx, p.Path, c.Caller.Source(*p.Source), p.options())
}

func writeFiles(ctx context.Context, c *Call, s *core.Sandbox, p *FilesWriteFiles) ([]core.WriteInfo, error) {
	files := make([]core.File, len(p.Files))
	rest := c.Attached
	for i, f := range p.Files {
		files[i].Path = f.Path
		if f.Source != nil {
			files[i].Source = c.Caller.Source(*f.Source)
			continue
		}
		if f.Size < 0 || f.Size > len(rest) {
			return nil, fault.InvalidArgument("the attached bytes end before file %d", i)
		}
		files[i].Bytes, rest = rest[:f.Size:f.Size], rest[f.Size:]
	}
	return s.Files.WriteMany(ctx, files, p.options())
}
