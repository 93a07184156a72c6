package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Making are the flags that mean the same in run and create.
type Making struct {
	Template string   `placeholder:"NAME" help:"Template of the sandbox. Default: base."`
	Copy     []string `sep:"none" placeholder:"SRC[:DST]" help:"Copy a file or directory into the sandbox first; DST is under the home directory."`
	Mount    []string `sep:"none" placeholder:"SRC:DST[:rw]" help:"Show a directory of this machine inside, read-only without :rw (local provider only)."`
	Internet Switch   `enum:"on,off," default:"" placeholder:"on|off" help:"Whether the sandbox reaches the internet."`
	CPUs     float64  `name:"cpus" placeholder:"N" help:"Processors (local provider)."`
	Memory   int      `placeholder:"MB" help:"Memory in MB (local provider)."`
	Disk     int      `placeholder:"MB" help:"Disk in MB (local provider)."`
}

// options are those of the new sandbox.
func (m *Making) options() (core.CreateOptions, error) {
	o := core.CreateOptions{
		Template: m.Template, AllowInternetAccess: m.Internet.pointer(), CPUCount: m.CPUs, MemoryMB: m.Memory, DiskMB: m.Disk,
	}
	for _, item := range m.Mount {
		mount, err := parseMount(item)
		if err != nil {
			return o, err
		}
		if _, err := os.Stat(mount.Source); err != nil {
			return o, fault.InvalidArgument("--mount: %s", reason(err))
		}
		o.Mounts = append(o.Mounts, mount)
	}
	return o, nil
}

// copies are what --copy asks for. All of it must exist before anything is made.
func (m *Making) copies() ([]copying, error) {
	var all []copying
	for _, item := range m.Copy {
		c, err := parseCopy(item)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(c.source); err != nil {
			return nil, fault.InvalidArgument("--copy: %s", reason(err))
		}
		all = append(all, c)
	}
	return all, nil
}

// reason is a file error in a person's words.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Path + ": " + p.Err.Error()
	}
	return err.Error()
}

// parseMount reads SRC:DST[:rw]. SRC may have colons, DST not.
func parseMount(item string) (core.Mount, error) {
	rest, write := strings.CutSuffix(item, ":rw")
	if !write {
		rest = strings.TrimSuffix(item, ":ro")
	}
	colon := strings.LastIndexByte(rest, ':')
	if colon < 1 {
		return core.Mount{}, fault.InvalidArgument("--mount %q must be SRC:DST or SRC:DST:rw", item)
	}
	source, target := rest[:colon], rest[colon+1:]
	if !path.IsAbs(target) {
		return core.Mount{}, fault.InvalidArgument("--mount %q: DST must be an absolute path, not %q", item, target)
	}
	source, err := filepath.Abs(source)
	if err != nil {
		return core.Mount{}, err
	}
	return core.Mount{Source: source, Target: target, Write: write}, nil
}

// copying is one --copy.
type copying struct{ source, target string }

// parseCopy reads SRC[:DST]. A file whose name has a colon is taken as SRC when
// it exists. Without DST it goes to the home directory under its own name.
func parseCopy(item string) (copying, error) {
	source, target := item, ""
	if _, err := os.Lstat(item); err != nil {
		if colon := strings.LastIndexByte(item, ':'); colon > 0 {
			source, target = item[:colon], item[colon+1:]
		}
	}
	if source == "" {
		return copying{}, fault.InvalidArgument("--copy %q has no SRC: it must be SRC or SRC:DST", item)
	}
	if target == "" || strings.HasSuffix(target, "/") {
		name, err := ownName(source)
		if err != nil {
			return copying{}, err
		}
		target += name
	}
	return copying{source, target}, nil
}

// ownName is what a file is called, also when it was given as "." or "..".
func ownName(source string) (string, error) {
	abs, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	name := filepath.Base(abs)
	if name == string(filepath.Separator) {
		return "", fault.InvalidArgument("the whole file system cannot be copied")
	}
	return name, nil
}

// prepare makes a sandbox and copies files into it. When a copy fails, the
// sandbox comes with the error: the caller ends it.
func prepare(ctx context.Context, client *native.Client, o core.CreateOptions, copies []copying, skipped func(path string)) (*native.Sandbox, error) {
	if len(o.Mounts) > 0 && client.Provider() != "local" {
		return nil, fault.InvalidArgument("--mount works with provider local only, not with %s", client.Provider()).
			Suggest("use --copy, or --provider local")
	}
	sbx, err := client.Create(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, c := range copies {
		report, err := sbx.Files.Upload(ctx, c.source, c.target, native.CopyOptions{})
		if err != nil {
			return sbx, err
		}
		for _, path := range report.Skipped {
			skipped(path)
		}
	}
	return sbx, nil
}
