package plane

import (
	"context"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// FileType is the kind of a file. Values unknown to us survive.
type FileType string

// The file types of E2B's envd.
const (
	TypeFile      FileType = "file"
	TypeDirectory FileType = "dir"
	TypeSymlink   FileType = "symlink"
	TypeUnknown   FileType = "unknown" // a dangling symlink
)

// Entry describes one file or directory. For a symlink, Type and Mode are its
// target's and SymlinkTarget is set (e2b.md 3.5).
type Entry struct {
	Name          string            `json:"name"`                     // the last part of the path
	Type          FileType          `json:"type"`                     // for a symlink, its target's
	Path          string            `json:"path"`                     // the whole path
	Size          int64             `json:"size"`                     // bytes
	Mode          uint32            `json:"mode"`                     // permission bits
	Permissions   string            `json:"permissions"`              // as ls writes them
	Owner         string            `json:"owner"`                    // user name, or number
	Group         string            `json:"group"`                    // group name, or number
	ModifiedTime  time.Time         `json:"modified_time"`            // UTC
	SymlinkTarget string            `json:"symlink_target,omitempty"` // absent = no symlink
	Metadata      map[string]string `json:"metadata,omitempty"`       // kept with the file
}

// WriteInfo is what a write answers for each file.
type WriteInfo struct {
	Name     string            `json:"name"`               // the last part of the path
	Path     string            `json:"path"`               // the whole path
	Type     FileType          `json:"type"`               // always file
	Metadata map[string]string `json:"metadata,omitempty"` // kept with the file
}

// ReadSpec asks for a file's bytes.
type ReadSpec struct {
	Path   string
	User   string
	Gzip   bool  // let the peer compress; default identity
	Offset int64 // first byte
	Length int64 // 0 = to the end
	Bulk   bool  // the host takes the body
}

// WriteSpec gives a file's bytes.
type WriteSpec struct {
	Path      string
	User      string
	Bytes     []byte
	Source    transport.Source // instead of Bytes
	Metadata  map[string]string
	Multipart bool // default octet-stream
	Gzip      bool // compress on the way
}

// EventType is the kind of a filesystem event. Values unknown to us survive.
type EventType string

// The event types of E2B's envd.
const (
	EventCreate EventType = "create"
	EventWrite  EventType = "write"
	EventRemove EventType = "remove"
	EventRename EventType = "rename"
	EventChmod  EventType = "chmod"
)

// Event is one change below a watched directory.
type Event struct {
	Name  string    `json:"name"`            // relative to the watched directory
	Type  EventType `json:"type"`            // what happened
	Entry *Entry    `json:"entry,omitempty"` // create, write, chmod, when asked for
}

// WatchSpec says what to watch.
type WatchSpec struct {
	Path               string
	User               string
	Recursive          bool
	IncludeEntry       bool
	AllowNetworkMounts bool
}

// Filesystem is the part of a data plane that names and changes files.
type Filesystem interface {
	Stat(ctx context.Context, path, user string) (*Entry, error)
	ListDir(ctx context.Context, path, user string, depth uint32) ([]Entry, error)
	MakeDir(ctx context.Context, path, user string) (*Entry, error)
	Move(ctx context.Context, source, destination, user string) (*Entry, error)
	Remove(ctx context.Context, path, user string) error
	// WatchDir calls started once the watch stands, then event for each change,
	// until ctx ends or a callback fails.
	WatchDir(ctx context.Context, spec WatchSpec, watch Watch, started func() error, event func(Event) error) error
	CreateWatcher(ctx context.Context, spec WatchSpec) (id string, err error)
	WatcherEvents(ctx context.Context, id, user string) ([]Event, error)
	RemoveWatcher(ctx context.Context, id, user string) error
}

// Transfer is the part of a data plane that moves file contents.
type Transfer interface {
	Read(ctx context.Context, spec ReadSpec) (*transport.Response, error)
	Write(ctx context.Context, spec WriteSpec) (*WriteInfo, error)
	// WriteMany writes small files in one request.
	WriteMany(ctx context.Context, user string, metadata map[string]string, files []WriteSpec) ([]WriteInfo, error)
	SignedURL(path, user string, write bool, expires time.Duration) (string, error)
}

// Data is a whole data plane, bound to one sandbox.
type Data interface {
	Process
	Filesystem
	Transfer
	// Healthy asks the sandbox itself. false: it is known not to run.
	Healthy(ctx context.Context) (bool, error)
	// Explain asks the sandbox itself why a connection failed, and gives err or a
	// better one.
	Explain(ctx context.Context, err error) error
}
