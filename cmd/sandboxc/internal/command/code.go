package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/capability"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// interpreterTemplate is the template of a new sandbox for code.
const interpreterTemplate = "code-interpreter-v1"

// Code is `sandboxc code`.
type Code struct {
	Making
	Command  *string  `short:"c" placeholder:"CODE" help:"The code itself, instead of a file."`
	Language string   `short:"l" placeholder:"NAME" help:"python, javascript, typescript, bash, r or the name of a kernel. Default: by the file's name, else python."`
	Sandbox  string   `placeholder:"ID" help:"A sandbox that runs already, instead of a new one; what code defined there is still there."`
	Context  string   `placeholder:"ID" help:"Context to run in (with --sandbox). Default: that of the language."`
	Env      []string `short:"e" sep:"none" placeholder:"K[=V]" help:"A variable for the code; without =V the value of this shell's."`
	Timeout  *float64 `placeholder:"SECONDS" help:"How long the code may run. Default: 300; 0 = no limit."`
	Output   string   `short:"o" placeholder:"DIR" help:"Save every result in this directory."`
	REPL     bool     `name:"repl" help:"Read, run and show, line by line."`
	Keep     bool     `help:"Leave the sandbox running and print its id."`

	File string `arg:"" optional:"" help:"File with the code; - or nothing is stdin."`
}

// Help is shown below the usage.
func (*Code) Help() string {
	return `  sandboxc code -c 'print(6*7)'
  sandboxc code analysis.py --copy data.csv -o results
  echo 'console.log(1)' | sandboxc code -l javascript
  sandboxc code --repl

What the code prints goes to stdout and stderr, then the value of its last line. Pictures are shown where the terminal can (kitty, iTerm2).
The exit code is 1 when the code raised an error, whose traceback is on stderr. Ctrl-C interrupts the code.`
}

// Run runs it.
func (c *Code) Run(a *App) error {
	job, err := c.job(a)
	if err != nil {
		return err
	}
	create, err := c.Making.options()
	if err != nil {
		return err
	}
	if create.Template == "" {
		create.Template = interpreterTemplate
	}
	copies, err := c.copies()
	if err != nil {
		return err
	}
	if c.Sandbox != "" {
		return a.attending(c.Sandbox, func(sbx *native.Sandbox) error { return job.in(sbx) })
	}
	return c.inNew(a, create, copies, job)
}

// job is the checked command line.
func (c *Code) job(a *App) (*codeJob, error) {
	switch {
	case c.Context != "" && c.Sandbox == "":
		return nil, fault.InvalidArgument("--context needs --sandbox: a new sandbox has no contexts yet")
	case c.Context != "" && c.Language != "":
		return nil, fault.InvalidArgument("--context and --language exclude each other: a context has its language")
	case c.Command != nil && c.File != "", c.REPL && (c.Command != nil || c.File != ""):
		return nil, fault.InvalidArgument("give one of -c, a file and --repl")
	case c.REPL && a.JSON:
		return nil, fault.InvalidArgument("--repl has no result to print as JSON")
	case c.Sandbox != "" && (c.Template != "" || len(c.Copy)+len(c.Mount) > 0 || c.Keep):
		return nil, fault.InvalidArgument("--template, --copy, --mount and --keep are for a new sandbox, not for --sandbox")
	}
	timeout, err := seconds("--timeout", c.Timeout)
	if err != nil {
		return nil, err
	}
	envs, err := parseEnvs(c.Env, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	j := &codeJob{app: a, repl: c.REPL, options: core.CodeOptions{Language: c.language(), ContextID: c.Context, Envs: envs, Timeout: timeout}}
	if j.show, err = newShow(a, c.Output); err != nil || c.REPL {
		return j, err
	}
	j.code, err = c.text()
	return j, err
}

// languages are known by the ends of names.
var languages = map[string]string{
	".js": "javascript", ".mjs": "javascript", ".ts": "typescript", ".sh": "bash", ".bash": "bash", ".r": "r", ".R": "r", ".java": "java",
}

func (c *Code) language() string {
	if c.Language != "" || c.Context != "" {
		return c.Language
	}
	return languages[filepath.Ext(c.File)]
}

// text is the code.
func (c *Code) text() (string, error) {
	if c.Command != nil {
		return *c.Command, nil
	}
	var b []byte
	var err error
	switch {
	case c.File != "" && c.File != "-":
		b, err = os.ReadFile(c.File)
		b = bytes.TrimPrefix(b, []byte("\ufeff")) // editors' mark of UTF-8, which is no code
	case c.File == "" && attend.IsTerminal(os.Stdin):
		return "", fault.InvalidArgument("there is no code").Suggest("give a file, or -c CODE, or --repl")
	default:
		b, err = io.ReadAll(os.Stdin)
	}
	return string(b), err
}

// inNew makes a sandbox, runs the code in it and ends the sandbox.
func (c *Code) inNew(a *App, create core.CreateOptions, copies []copying, job *codeJob) error {
	var client *native.Client
	err := a.starting(func(ctx context.Context) (err error) {
		client, err = a.client(ctx, nil, nil)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	if life := runLife; client.Capabilities().Has(capability.Timeout) {
		create.Timeout = &life
	}
	began := time.Now()
	var sbx *native.Sandbox
	err = a.starting(func(ctx context.Context) (err error) {
		sbx, err = prepare(ctx, client, create, copies, a.leftOut)
		return err
	})
	if sbx == nil {
		return err
	}
	made := time.Since(began)
	a.trace("created %s", sbx)
	if !c.Keep {
		defer end(a, sbx)
	}
	if err != nil {
		return err
	}
	defer keepAlive(a.ctx, sbx)()
	began = time.Now()
	err = job.in(sbx)
	if c.Keep {
		a.Warn("the sandbox stays: %s", sbx.ID())
	}
	if a.Terminal && !a.JSON && !c.REPL {
		a.Note("%s · isolation %s · created in %s · ran for %s", client.Provider(), sbx.Isolation(), round(made), round(time.Since(began)))
	}
	return err
}

// codeJob is code to run in a sandbox.
type codeJob struct {
	app     *App
	code    string
	repl    bool
	options core.CodeOptions
	show    *show
}

func (j *codeJob) in(sbx *native.Sandbox) error {
	if j.repl {
		return j.converse(sbx)
	}
	execution, err := j.run(sbx, j.code)
	if err != nil {
		return err
	}
	if j.app.JSON {
		if err := j.app.Line(j.report(execution, sbx), ""); err != nil {
			return err
		}
	}
	if execution.Error != nil {
		return output.Status(output.ExitGeneral)
	}
	return nil
}

// run runs one piece of code. A signal interrupts it.
func (j *codeJob) run(sbx *native.Sandbox, code string) (*core.Execution, error) {
	var execution *core.Execution
	o := j.options
	o.OnStdout, o.OnStderr, o.OnResult, o.OnError = j.show.stdout, j.show.stderr, j.show.result, j.show.raised
	err := j.app.starting(func(ctx context.Context) (err error) {
		execution, err = sbx.RunCode(ctx, code, o)
		return err
	})
	return execution, errors.Join(j.show.failed, err)
}

// report is an execution as --json prints it.
func (j *codeJob) report(x *core.Execution, sbx *native.Sandbox) any {
	results := x.Results
	if results == nil {
		results = []*core.Result{}
	}
	return struct {
		Results   []*core.Result  `json:"results"`
		Stdout    string          `json:"stdout"`
		Stderr    string          `json:"stderr"`
		Error     *core.CodeError `json:"error,omitempty"`
		Count     int64           `json:"execution_count,omitempty"`
		Text      string          `json:"text"`
		Files     []string        `json:"files,omitempty"`
		SandboxID string          `json:"sandbox_id"`
		Isolation string          `json:"isolation"`
	}{
		results, strings.Join(x.Logs.Stdout, ""), strings.Join(x.Logs.Stderr, ""), x.Error, x.Count, x.Text(), j.show.files,
		sbx.ID(), sbx.Isolation(),
	}
}
