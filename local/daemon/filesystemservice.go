package daemon

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"connectrpc.com/connect"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

// filesystemService is filesystem.Filesystem (e2b.md 3.5).
type filesystemService struct{ d *Daemon }

// locate resolves a path of the request's user.
func (s *filesystemService) locate(header http.Header, path string) (string, User, error) {
	user, err := s.d.rpcUser(header)
	if err != nil {
		return "", User{}, err
	}
	full, err := expandPath(path, user, s.d.defaults.directory())
	if err != nil {
		return "", User{}, connect.NewError(connect.CodeInvalidArgument, err)
	}
	return full, user, nil
}

// Stat implements filesystem.Filesystem.
func (s *filesystemService) Stat(_ context.Context, r *connect.Request[filesystempb.StatRequest]) (*connect.Response[filesystempb.StatResponse], error) {
	path, _, err := s.locate(r.Header(), r.Msg.GetPath())
	if err != nil {
		return nil, err
	}
	entry, err := s.d.entryAt(path)
	if err != nil {
		return nil, fsFault("file not found", err)
	}
	return connect.NewResponse(&filesystempb.StatResponse{Entry: entry}), nil
}

// MakeDir implements filesystem.Filesystem.
func (s *filesystemService) MakeDir(_ context.Context, r *connect.Request[filesystempb.MakeDirRequest]) (*connect.Response[filesystempb.MakeDirResponse], error) {
	path, user, err := s.locate(r.Header(), r.Msg.GetPath())
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return nil, connect.NewError(connect.CodeAlreadyExists, fmt.Errorf("directory already exists: %s", path))
		}
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("path already exists but it is not a directory: %s", path))
	}
	if err := makeDirs(path, s.d.ownerFor(user)); err != nil {
		return nil, makeDirFault(err)
	}
	entry, err := s.d.entryAt(path)
	if err != nil {
		return nil, fsFault("error reading the new directory", err)
	}
	return connect.NewResponse(&filesystempb.MakeDirResponse{Entry: entry}), nil
}

// makeDirFault: a file among the parents is the request's mistake.
func makeDirFault(err error) error {
	if isMissing(err) {
		return connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("error creating directory: %w", err))
	}
	return fsFault("error creating directory", err)
}

// Move implements filesystem.Filesystem.
func (s *filesystemService) Move(_ context.Context, r *connect.Request[filesystempb.MoveRequest]) (*connect.Response[filesystempb.MoveResponse], error) {
	source, user, err := s.locate(r.Header(), r.Msg.GetSource())
	if err != nil {
		return nil, err
	}
	destination, _, err := s.locate(r.Header(), r.Msg.GetDestination())
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(source); err != nil {
		return nil, fsFault("source file not found", err)
	}
	if err := makeDirs(filepath.Dir(destination), s.d.ownerFor(user)); err != nil {
		return nil, makeDirFault(err)
	}
	if err := move(source, destination); err != nil {
		return nil, fsFault("error renaming", err)
	}
	entry, err := s.d.entryAt(destination)
	if err != nil {
		return nil, fsFault("error reading the moved file", err)
	}
	return connect.NewResponse(&filesystempb.MoveResponse{Entry: entry}), nil
}

// ListDir implements filesystem.Filesystem.
func (s *filesystemService) ListDir(_ context.Context, r *connect.Request[filesystempb.ListDirRequest]) (*connect.Response[filesystempb.ListDirResponse], error) {
	path, _, err := s.locate(r.Header(), r.Msg.GetPath())
	if err != nil {
		return nil, err
	}
	entries, err := s.d.listDir(path, r.Msg.GetDepth())
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&filesystempb.ListDirResponse{Entries: entries}), nil
}

// Remove implements filesystem.Filesystem.
func (s *filesystemService) Remove(_ context.Context, r *connect.Request[filesystempb.RemoveRequest]) (*connect.Response[filesystempb.RemoveResponse], error) {
	path, _, err := s.locate(r.Header(), r.Msg.GetPath())
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(path); err != nil && !isMissing(err) {
		return nil, fsFault("error removing file or directory", err)
	}
	return connect.NewResponse(&filesystempb.RemoveResponse{}), nil
}
