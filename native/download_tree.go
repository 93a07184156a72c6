package native

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Download copies a file or a directory tree of the sandbox to target on this
// machine, in one call: source's content becomes target. Whatever names and
// links the sandbox gives, nothing outside target is written.
func (f *Files) Download(ctx context.Context, source, target string, o CopyOptions) (*CopyReport, error) {
	entry, err := f.Stat(ctx, source, o.files())
	if err != nil {
		return nil, err
	}
	down := &downloading{files: f, options: o, counting: counting{progress: o.Progress}}
	name := "."
	if entry.Type != core.TypeDirectory {
		target, name = filepath.Split(filepath.Clean(target))
	}
	if target == "" {
		target = "."
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return nil, localFailure(target, err)
	}
	if down.root, err = os.OpenRoot(target); err != nil {
		return nil, localFailure(target, err)
	}
	defer func() { _ = down.root.Close() }()
	if entry.Type != core.TypeDirectory {
		err = down.fetch(ctx, remoteFile{source, name, entry.Mode})
	} else {
		err = down.tree(ctx, entry.Path)
	}
	return &down.report, err
}

type remoteFile struct {
	source, name string // name is relative to the target
	mode         uint32
}

type downloading struct {
	counting
	files   *Files
	options CopyOptions
	root    *os.Root // refuses every way out
	base    string
	found   []remoteFile
	links   [][2]string
}

func (d *downloading) tree(ctx context.Context, base string) error {
	d.base = base
	for level := []string{base}; len(level) > 0; {
		next, err := d.level(ctx, level)
		if err != nil {
			return err
		}
		level = next
	}
	if err := d.files.each(ctx, len(d.found), func(ctx context.Context, i int) error { return d.fetch(ctx, d.found[i]) }); err != nil {
		return err
	}
	for _, l := range d.links {
		if err := d.link(l[0], l[1]); err != nil {
			return err
		}
	}
	return nil
}

// level lists directories of one depth and gives those of the next.
func (d *downloading) level(ctx context.Context, dirs []string) ([]string, error) {
	lists := make([][]core.Entry, len(dirs))
	err := d.files.each(ctx, len(dirs), func(ctx context.Context, i int) (err error) {
		o := d.options.files()
		o.Irregular = true
		lists[i], err = d.files.List(ctx, dirs[i], 1, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	var next []string
	for _, list := range lists {
		for _, e := range list {
			deeper, err := d.visit(e)
			if err != nil {
				return nil, err
			}
			if deeper {
				next = append(next, e.Path)
			}
		}
	}
	return next, nil
}

func (d *downloading) visit(e core.Entry) (deeper bool, err error) {
	rel, ok := strings.CutPrefix(e.Path, strings.TrimSuffix(d.base, "/")+"/")
	name := filepath.FromSlash(rel)
	if !ok || !filepath.IsLocal(name) {
		return false, fault.New(fault.CodeProtocol, "the sandbox listed %q, which is not below %q", e.Path, d.base)
	}
	switch {
	case e.SymlinkTarget != "":
		d.links = append(d.links, [2]string{e.SymlinkTarget, name})
	case e.Type == core.TypeDirectory:
		if err := d.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, localFailure(name, err)
		}
		d.directory()
		return true, nil
	case e.Type == core.TypeFile:
		d.found = append(d.found, remoteFile{e.Path, name, e.Mode})
	default:
		d.skip(e.Path)
	}
	return false, nil
}

func (d *downloading) fetch(ctx context.Context, r remoteFile) error {
	src, err := d.files.Open(ctx, r.source, d.options.files())
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	dst, err := d.root.OpenFile(r.name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fs.FileMode(r.mode&0o777)|0o600)
	if err != nil {
		return localFailure(r.name, err)
	}
	var w io.Writer = dst
	if d.progress != nil {
		w = &watchedWriter{dst, r.source, &d.counting}
	}
	n, err := io.Copy(w, src)
	if d.progress == nil {
		d.moved(r.source, n)
	}
	if cerr := dst.Close(); err == nil && cerr != nil {
		err = localFailure(r.name, cerr)
	}
	d.file()
	return err
}

// link makes a link again when it stays inside the tree; the sandbox gives the
// resolved target.
func (d *downloading) link(target, name string) error {
	inside, ok := strings.CutPrefix(target, strings.TrimSuffix(d.base, "/")+"/")
	if !ok || !filepath.IsLocal(filepath.FromSlash(inside)) {
		d.skip(path.Join(d.base, filepath.ToSlash(name)))
		return nil
	}
	relative, err := filepath.Rel(filepath.Dir(name), filepath.FromSlash(inside))
	if err != nil {
		return localFailure(name, err)
	}
	_ = d.root.Remove(name)
	if err := d.root.Symlink(relative, name); err != nil {
		return localFailure(name, err)
	}
	d.file()
	return nil
}

type watchedWriter struct {
	io.Writer
	path string
	c    *counting
}

func (w *watchedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	w.c.moved(w.path, int64(n))
	return n, err
}
