// Package command is sandboxc's commands: flags in, calls of the core, output.
package command

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/attend"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// Main runs one command line and gives the exit code.
func Main(args []string) int {
	args = habits(args)
	cli := &CLI{}
	app := &App{began: time.Now(), Printer: newPrinter(args)}
	exit, over := -1, false
	parser, err := kong.New(cli, kong.Name("sandboxc"), kong.Description(description), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
		kong.Exit(func(code int) { exit, over = code, true }))
	if err != nil {
		return app.Fail(err, output.ExitCode)
	}
	parsed, err := parser.Parse(args)
	if over {
		return exit
	}
	if err != nil {
		return app.Fail(usage(err), exitCodes(args))
	}
	app.flags = cli.Globals
	app.JSON, app.Quiet = cli.JSON, cli.Quiet
	return app.run(parsed, args)
}

// run runs a parsed command. Commands that attend one inside a sandbox take the
// signals themselves.
func (a *App) run(parsed *kong.Context, args []string) int {
	a.signals = attend.Listen()
	defer a.signals.Stop()
	a.ctx = context.Background()
	if !attends(args) {
		ctx, stop := a.signals.Context(a.ctx)
		defer stop()
		a.ctx = ctx
	}
	err := attend.Interrupted(a.ctx, parsed.Run(a))
	var by *attend.InterruptedError
	switch {
	case err == nil:
		return output.ExitOK
	case errors.As(err, &by):
		return output.ExitSignal + by.Number()
	case errors.Is(err, syscall.EPIPE):
		return output.ExitPipe
	}
	return a.Fail(guided(err), exitCodes(args))
}

// habits are what people type who know other programs.
func habits(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// plainWords are the parser's, which speak of types, in those of its users.
var plainWords = strings.NewReplacer(
	"expected a valid 64 bit int but got", "expected a whole number but got", "expected a float but got", "expected a number but got",
	"expected int value", "expected a number", "expected float value", "expected a number", " (string)", "", `","" but got`, `" but got`, `","`, `", "`,
)

// usage names the help of the command that was meant.
func usage(err error) error {
	help := "sandboxc --help"
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil {
		if node := parse.Context.Selected(); node != nil {
			help = strings.Join(append([]string{"sandboxc"}, strings.Fields(node.Path())...), " ") + " --help"
		}
	}
	return fault.InvalidArgument("%s", plainWords.Replace(err.Error())).Suggest("%s shows what there is", help)
}

// commandOf is the name of the command in a command line.
func commandOf(args []string) string {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--provider" || arg == "--profile":
			i++
		case !strings.HasPrefix(arg, "-"):
			return arg
		}
	}
	return ""
}

// attends: these commands hand signals on instead of ending by them.
func attends(args []string) bool {
	return passes(args) || commandOf(args) == "code"
}

// passes: the exit code of these commands is that of the command inside.
func passes(args []string) bool {
	return slices.Contains([]string{"run", "exec", "shell"}, commandOf(args))
}

// exitCodes maps errors to exit codes: where the code is the command's own, ours
// must not look like one.
func exitCodes(args []string) func(fault.Code) int {
	if passes(args) {
		return output.CommandExitCode
	}
	return output.ExitCode
}

// asksJSON looks for --json before the flags are known to be right. What follows
// -- is not ours.
func asksJSON(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--json" {
			return true
		}
	}
	return false
}

// newPrinter writes dim notes to a terminal unless somebody asked for none
// (https://no-color.org).
func newPrinter(args []string) *output.Printer {
	terminal := attend.IsTerminal(os.Stderr)
	return &output.Printer{
		Out: os.Stdout, Err: os.Stderr, JSON: asksJSON(args), Terminal: terminal,
		Dim: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}
