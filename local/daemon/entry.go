package daemon

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"google.golang.org/protobuf/types/known/timestamppb"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

// entryAt describes what is at path, without following a link.
func (d *Daemon) entryAt(path string) (*filesystempb.EntryInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	return d.entry(path, info), nil
}

// entry describes a file that was looked at with lstat. Of a link, type and mode
// are the target's, and the target is fully resolved; a dangling link has no type
// (e2b.md 3.5).
func (d *Daemon) entry(path string, info fs.FileInfo) *filesystempb.EntryInfo {
	e := &filesystempb.EntryInfo{
		Name:         validText(info.Name()),
		Type:         typeOf(info.Mode()),
		Path:         validText(path),
		Size:         info.Size(),
		Mode:         uint32(info.Mode().Perm()),
		Permissions:  info.Mode().String(),
		ModifiedTime: timestamppb.New(info.ModTime()),
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		e.Owner, e.Group = d.users.NameOf(int(st.Uid)), d.users.GroupOf(int(st.Gid))
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		describeTarget(e, path)
	}
	if e.Type != filesystempb.FileType_FILE_TYPE_UNSPECIFIED {
		e.Metadata = readMetadata(path)
	}
	return e
}

func describeTarget(e *filesystempb.EntryInfo, path string) {
	e.Type, e.Mode = filesystempb.FileType_FILE_TYPE_UNSPECIFIED, 0
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		target = path
	} else if info, err := os.Stat(target); err == nil {
		e.Type, e.Mode = typeOf(info.Mode()), uint32(info.Mode().Perm())
	}
	target = validText(target)
	e.SymlinkTarget = &target
}

func typeOf(mode fs.FileMode) filesystempb.FileType {
	switch {
	case mode.IsRegular():
		return filesystempb.FileType_FILE_TYPE_FILE
	case mode.IsDir():
		return filesystempb.FileType_FILE_TYPE_DIRECTORY
	case mode&fs.ModeSymlink != 0:
		return filesystempb.FileType_FILE_TYPE_SYMLINK
	}
	return filesystempb.FileType_FILE_TYPE_UNSPECIFIED
}

// validText keeps one name that is not UTF-8 from making a whole answer
// impossible: protobuf strings must be.
func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
