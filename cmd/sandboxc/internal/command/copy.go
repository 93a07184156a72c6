package command

import (
	"io"
	"os"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/progress"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Copy is `sandboxc cp`.
type Copy struct {
	Source string `arg:"" help:"PATH, ID:PATH, or - for stdin."`
	Target string `arg:"" help:"PATH, ID:PATH, or - for stdout."`
	User   string `short:"u" placeholder:"NAME" help:"User inside. Default: user."`
}

// Run copies.
func (c *Copy) Run(a *App) error {
	source, target := parseEndpoint(c.Source), parseEndpoint(c.Target)
	switch {
	case source.id == "" && target.id != "":
		return upload(a, target.id, source.path, target.path, c.User)
	case source.id != "" && target.id == "":
		return download(a, source.id, source.path, target.path, c.User)
	}
	return fault.InvalidArgument("cp copies between this machine and a sandbox: one side must be ID:PATH").
		Suggest("inside one sandbox use sandboxc exec ID -- cp")
}

// Upload is `sandboxc upload`.
type Upload struct {
	ID     string `arg:"" help:"The sandbox."`
	Source string `arg:"" help:"File or directory here; - is stdin."`
	Target string `arg:"" optional:"" help:"Path inside. Default: the home directory."`
	User   string `short:"u" placeholder:"NAME" help:"User inside. Default: user."`
}

// Run uploads.
func (u *Upload) Run(a *App) error { return upload(a, u.ID, u.Source, u.Target, u.User) }

// Download is `sandboxc download`.
type Download struct {
	ID     string `arg:"" help:"The sandbox."`
	Source string `arg:"" help:"File or directory inside."`
	Target string `arg:"" optional:"" help:"Path here; - is stdout. Default: the working directory."`
	User   string `short:"u" placeholder:"NAME" help:"User inside. Default: user."`
}

// Run downloads.
func (d *Download) Run(a *App) error { return download(a, d.ID, d.Source, d.Target, d.User) }

// copied is a copy as --json prints it.
type copied struct {
	SandboxID string `json:"sandbox_id"`
	Source    string `json:"source"`
	Target    string `json:"target"`

	Files       int      `json:"files"`
	Directories int      `json:"directories"`
	Bytes       int64    `json:"bytes"`
	Skipped     []string `json:"skipped"`
}

func upload(a *App, id, source, target, user string) error {
	if source == stream && target == "" {
		return fault.InvalidArgument("stdin has no name: say the path inside")
	}
	size, err := sizeOf(source)
	if err != nil {
		return err
	}
	return a.withSandbox(id, func(sbx *native.Sandbox) error {
		to, err := within(a, sbx, source, target, user)
		if err != nil {
			return err
		}
		bar := progress.Start(a.screen(), source, size)
		defer bar.Stop()
		if source == stream {
			read := &counted{Reader: os.Stdin}
			_, err = sbx.Files.WriteFrom(a.ctx, to, bar.Reader(read), -1, core.WriteOptions{User: user})
			return a.copied(id, source, to, &native.CopyReport{Files: 1, Bytes: read.n}, err)
		}
		report, err := sbx.Files.Upload(a.ctx, source, to, a.copyOptions(user, bar))
		return a.copied(id, source, to, report, err)
	})
}

// sizeOf is the size of a file here, -1 of anything else. What does not exist is
// told before anything else is done.
func sizeOf(source string) (int64, error) {
	if source == stream {
		return -1, nil
	}
	info, err := os.Stat(source)
	if err != nil {
		return 0, fault.InvalidArgument("%s", reason(err)).Because(err)
	}
	if !info.Mode().IsRegular() {
		return -1, nil
	}
	return info.Size(), nil
}

func download(a *App, id, source, target, user string) error {
	if source == "" {
		return fault.InvalidArgument("the path inside is empty").Suggest("write ID:. for the home directory")
	}
	return a.withSandbox(id, func(sbx *native.Sandbox) error {
		if target == stream {
			return fetch(a, sbx, source, user)
		}
		to, err := beside(source, target)
		if err != nil {
			return err
		}
		bar := progress.Start(a.screen(), source, -1)
		defer bar.Stop()
		report, err := sbx.Files.Download(a.ctx, source, to, a.copyOptions(user, bar))
		return a.copied(id, source, to, report, err)
	})
}

// fetch writes the bytes of one file to stdout.
func fetch(a *App, sbx *native.Sandbox, source, user string) error {
	r, err := sbx.Files.Open(a.ctx, source, core.FileOptions{User: user})
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	_, err = io.Copy(os.Stdout, r)
	return err
}

// screen is where progress is shown: nil but for a person at a terminal.
func (a *App) screen() io.Writer {
	if a.Quiet || a.JSON || !attend.IsTerminal(os.Stderr) {
		return nil
	}
	return os.Stderr
}

// copyOptions watches the bytes only where somebody wants to know: it costs.
func (a *App) copyOptions(user string, bar *progress.Bar) native.CopyOptions {
	o := native.CopyOptions{User: user}
	if bar != nil || a.JSON {
		o.Progress = func(_ string, n int64) { bar.Add(n) }
	}
	return o
}

// copied says what a copy did, and what it had to leave out.
func (a *App) copied(id, source, target string, report *native.CopyReport, err error) error {
	if report == nil {
		report = &native.CopyReport{}
	}
	for _, path := range report.Skipped {
		a.leftOut(path)
	}
	if err != nil || !a.JSON {
		return err
	}
	if report.Skipped == nil {
		report.Skipped = []string{}
	}
	return a.Line(copied{id, source, target, report.Files, report.Directories, report.Bytes, report.Skipped}, "")
}

func (a *App) leftOut(path string) {
	a.Warn("%s is left out: it is no file or directory, or a link that leads out", output.Clean(path))
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n += int64(n)
	return n, err
}
