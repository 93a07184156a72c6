package native

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Upload copies a file or a directory tree of this machine to target in the
// sandbox, in one call: source's content becomes target. Links stay links,
// executable files stay executable; memory stays bounded.
func (f *Files) Upload(ctx context.Context, source, target string, o CopyOptions) (*CopyReport, error) {
	info, err := os.Stat(source)
	if err != nil {
		return nil, localFailure(source, err)
	}
	up := &uploading{files: f, options: o, counting: counting{progress: o.Progress}}
	if !info.IsDir() {
		err = up.send(ctx, localFile{source, target, info.Mode()})
		if err == nil {
			err = up.finish(ctx)
		}
		return &up.report, err
	}
	return &up.report, up.tree(ctx, source, target)
}

func localFailure(path string, err error) error {
	switch {
	case os.IsNotExist(err):
		return fault.New(fault.CodeFileNotFound, "%s does not exist on this machine", path).Because(err)
	case os.IsPermission(err):
		return fault.New(fault.CodeFilePermission, "%s may not be used on this machine", path).Because(err)
	}
	return fault.New(fault.CodeFileOperation, "%s on this machine: %s", path, err).Because(err)
}

type localFile struct {
	source, target string
	mode           fs.FileMode
}

type uploading struct {
	counting
	files   *Files
	options CopyOptions

	found       []localFile
	directories []string // that hold nothing: the others are made with their files
	links       [][2]string
	executables []string
}

func (u *uploading) tree(ctx context.Context, source, target string) error {
	if err := u.walk(source, target); err != nil {
		return err
	}
	if err := u.files.each(ctx, len(u.directories), func(ctx context.Context, i int) error {
		if u.directories[i] != path.Clean(target) {
			u.directory()
		}
		_, err := u.files.MakeDir(ctx, u.directories[i], u.options.files())
		return err
	}); err != nil {
		return err
	}
	if err := u.files.each(ctx, len(u.found), func(ctx context.Context, i int) error { return u.send(ctx, u.found[i]) }); err != nil {
		return err
	}
	return u.finish(ctx)
}

func (u *uploading) walk(source, target string) error {
	return filepath.WalkDir(source, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return localFailure(p, err)
		}
		rel, err := filepath.Rel(source, p)
		if err != nil {
			return err
		}
		return u.visit(p, path.Join(target, filepath.ToSlash(rel)), d)
	})
}

func (u *uploading) visit(p, to string, d fs.DirEntry) error {
	switch {
	case d.IsDir():
		u.directories = append(u.directories, to)
	case d.Type()&fs.ModeSymlink != 0:
		link, err := os.Readlink(p)
		if err != nil {
			return localFailure(p, err)
		}
		u.links = append(u.links, [2]string{link, to})
	case d.Type().IsRegular():
		info, err := d.Info()
		if err != nil {
			return localFailure(p, err)
		}
		u.found = append(u.found, localFile{p, to, info.Mode()})
	default:
		u.skip(p)
	}
	return nil
}

func (u *uploading) send(ctx context.Context, l localFile) error {
	src, err := os.Open(l.source)
	if err != nil {
		return localFailure(l.source, err)
	}
	defer func() { _ = src.Close() }()
	var size int64 = -1
	if info, err := src.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	source := NewSource(src, -1)
	if u.progress != nil {
		// A reader that is watched cannot be handed to the kernel as a file.
		source = NewSource(&watched{src, l.source, &u.counting}, size)
	}
	if _, err := u.files.WriteSource(ctx, l.target, source, core.WriteOptions{User: u.options.User}); err != nil {
		return err
	}
	u.file()
	if u.progress == nil && size > 0 {
		u.moved(l.source, size)
	}
	if l.mode&0o111 != 0 {
		u.count(func(*CopyReport) { u.executables = append(u.executables, l.target) })
	}
	return nil
}

// finish does what the files API cannot say: links and executable bits.
func (u *uploading) finish(ctx context.Context) error {
	for _, l := range u.links {
		if err := u.command(ctx, "ln", "-sfn", "--", l[0], l[1]); err != nil {
			return err
		}
		u.file()
	}
	for batch := range batches(u.executables, 100) {
		if err := u.command(ctx, append([]string{"chmod", "a+x", "--"}, batch...)...); err != nil {
			return err
		}
	}
	return nil
}

func (u *uploading) command(ctx context.Context, argv ...string) error {
	_, err := u.files.commands.Exec(ctx, argv, core.RunOptions{User: u.options.User, Check: true})
	return err
}

func batches[T any](all []T, size int) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for len(all) > 0 {
			n := min(size, len(all))
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

// watched counts what is read.
type watched struct {
	io.Reader
	path string
	c    *counting
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if n > 0 {
		w.c.moved(w.path, int64(n))
	}
	return n, err
}
