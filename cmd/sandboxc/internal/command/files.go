package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Files is `sandboxc files`.
type Files struct {
	User string `short:"u" placeholder:"NAME" help:"User inside. Default: user."`

	List   FilesList   `cmd:"" name:"ls" help:"List a directory."`
	Cat    FilesCat    `cmd:"" help:"Print files."`
	Stat   FilesStat   `cmd:"" help:"Describe a path."`
	Make   FilesMake   `cmd:"" name:"mkdir" help:"Make directories and their parents."`
	Remove FilesRemove `cmd:"" name:"rm" help:"Remove paths and everything below them."`
	Move   FilesMove   `cmd:"" name:"mv" help:"Rename a path."`
	Watch  FilesWatch  `cmd:"" help:"Print what changes below a directory."`
}

func (f *Files) options() core.FileOptions { return core.FileOptions{User: f.User} }

// FilesList is `sandboxc files ls`.
type FilesList struct {
	ID    string `arg:"" help:"The sandbox."`
	Path  string `arg:"" optional:"" default:"." help:"Directory. Default: the home directory."`
	Depth int    `default:"1" placeholder:"N" help:"How many levels."`
}

// Run lists.
func (f *FilesList) Run(a *App, files *Files) error {
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		entries, err := sbx.Files.List(a.ctx, f.Path, f.Depth, files.options())
		if err != nil {
			return err
		}
		var rows [][]string
		for _, e := range entries {
			name := e.Name
			if f.Depth > 1 {
				name = e.Path
			}
			if e.SymlinkTarget != "" {
				name += " -> " + e.SymlinkTarget
			}
			rows = append(rows, []string{e.Permissions, e.Owner, e.Group, strconv.FormatInt(e.Size, 10), clock(e.ModifiedTime), name})
		}
		return a.Table(entries, []string{"MODE", "OWNER", "GROUP", "SIZE", "MODIFIED", "NAME"}, rows)
	})
}

// FilesCat is `sandboxc files cat`.
type FilesCat struct {
	ID    string   `arg:"" help:"The sandbox."`
	Paths []string `arg:"" name:"path" help:"The files."`
}

// Run prints the bytes as they are; with --json as text.
func (f *FilesCat) Run(a *App, files *Files) error {
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		for _, path := range f.Paths {
			if err := cat(a, sbx, path, files); err != nil {
				return err
			}
		}
		return nil
	})
}

func cat(a *App, sbx *native.Sandbox, path string, files *Files) error {
	if !a.JSON {
		return fetch(a, sbx, path, files.User)
	}
	text, err := sbx.Files.ReadText(a.ctx, path, files.options())
	if err != nil {
		return err
	}
	return a.Line(map[string]string{"path": path, "content": text}, "")
}

// FilesStat is `sandboxc files stat`.
type FilesStat struct {
	ID   string `arg:"" help:"The sandbox."`
	Path string `arg:"" help:"The path."`
}

// Run describes.
func (f *FilesStat) Run(a *App, files *Files) error {
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		e, err := sbx.Files.Stat(a.ctx, f.Path, files.options())
		if err != nil {
			return err
		}
		return a.Value(e, func(w io.Writer) error {
			link := ""
			if e.SymlinkTarget != "" {
				link = " -> " + e.SymlinkTarget
			}
			_, err := fmt.Fprintf(w, "%s%s\n%s, %d bytes, %s (%o), %s:%s, modified %s\n", output.Clean(e.Path), output.Clean(link),
				e.Type, e.Size, output.Clean(e.Permissions), e.Mode, output.Clean(e.Owner), output.Clean(e.Group), clock(e.ModifiedTime))
			return err
		})
	})
}

// FilesMake is `sandboxc files mkdir`.
type FilesMake struct {
	ID    string   `arg:"" help:"The sandbox."`
	Paths []string `arg:"" name:"path" help:"The directories."`
}

// Run makes them; those that exist are fine.
func (f *FilesMake) Run(a *App, files *Files) error {
	return a.eachPath(f.ID, f.Paths, func(ctx context.Context, sbx *native.Sandbox, path string) error {
		_, err := sbx.Files.MakeDir(ctx, path, files.options())
		return err
	})
}

// FilesRemove is `sandboxc files rm`.
type FilesRemove struct {
	ID    string   `arg:"" help:"The sandbox."`
	Paths []string `arg:"" name:"path" help:"The paths."`
	Force bool     `short:"f" help:"A path that does not exist is fine."`
}

// Run removes them.
func (f *FilesRemove) Run(a *App, files *Files) error {
	return a.eachPath(f.ID, f.Paths, func(ctx context.Context, sbx *native.Sandbox, path string) error {
		if !f.Force {
			if _, err := sbx.Files.Stat(ctx, path, files.options()); err != nil {
				return err
			}
		}
		return sbx.Files.Remove(ctx, path, files.options())
	})
}

// eachPath does something to paths, in order, until one fails.
func (a *App) eachPath(id string, paths []string, do func(context.Context, *native.Sandbox, string) error) error {
	return a.withSandbox(id, func(sbx *native.Sandbox) error {
		for _, path := range paths {
			if err := do(a.ctx, sbx, path); err != nil {
				return err
			}
		}
		if !a.JSON {
			return nil
		}
		return a.Line(map[string]any{"sandbox_id": id, "paths": paths}, "")
	})
}

// FilesMove is `sandboxc files mv`.
type FilesMove struct {
	ID     string `arg:"" help:"The sandbox."`
	Source string `arg:"" help:"The path."`
	Target string `arg:"" help:"What it becomes."`
}

// Run renames.
func (f *FilesMove) Run(a *App, files *Files) error {
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		entry, err := sbx.Files.Move(a.ctx, f.Source, f.Target, files.options())
		if err != nil || !a.JSON {
			return err
		}
		return a.Line(entry, "")
	})
}

// FilesWatch is `sandboxc files watch`.
type FilesWatch struct {
	ID        string `arg:"" help:"The sandbox."`
	Path      string `arg:"" optional:"" default:"." help:"Directory. Default: the home directory."`
	Recursive bool   `short:"r" help:"Also what lies below its directories."`
}

// Run prints events until a signal ends it. With --json each is a line.
func (f *FilesWatch) Run(a *App, files *Files) error {
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		o := core.WatchOptions{User: files.User, Recursive: f.Recursive}
		started := func() error {
			a.Note("watching %s, Ctrl-C ends it", f.Path)
			return nil
		}
		return sbx.Files.Watch(a.ctx, f.Path, o, started, func(e core.Event) error {
			if a.JSON {
				b, err := json.Marshal(e)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(a.Out, "%s\n", b)
				return err
			}
			_, err := fmt.Fprintf(a.Out, "%-7s %s\n", output.Clean(string(e.Type)), output.Clean(e.Name))
			return err
		})
	})
}
