package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"connectrpc.com/connect"

	filesystempb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem"
)

var errNotDirectory = errors.New("path is not a directory")

// listDir walks a directory down to depth levels, each in lexical order, a
// directory before its content. A root that is a link is followed; its entries
// have the paths that were asked for. Errors are Connect errors.
func (d *Daemon) listDir(root string, depth uint32) ([]*filesystempb.EntryInfo, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fsFault("directory not found", err)
	}
	if !info.IsDir() {
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("%w: %s", errNotDirectory, root))
	}
	w := walk{d: d}
	if err := w.into(root, max(depth, 1)); err != nil {
		return nil, fsFault("error reading directory", err)
	}
	return w.entries, nil
}

// walk gathers the entries of a tree.
type walk struct {
	d       *Daemon
	entries []*filesystempb.EntryInfo
}

func (w *walk) into(dir string, depth uint32) error {
	items, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, item := range items {
		info, err := item.Info()
		if err != nil {
			// It was removed while we looked.
			continue
		}
		path := filepath.Join(dir, item.Name())
		w.entries = append(w.entries, w.d.entry(path, info))
		if depth < 2 || !item.IsDir() {
			continue
		}
		if err := w.into(path, depth-1); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}
