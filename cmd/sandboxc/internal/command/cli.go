package command

const description = `Run code in sandboxes: on this machine, or at any provider that speaks E2B's API.`

// CLI is every command.
type CLI struct {
	Globals

	Run Run `cmd:"" help:"Run a command in a new sandbox, which is gone afterwards."`

	Code Code `cmd:"" help:"Run code in an interpreter inside a sandbox, and show or save its results."`

	Create  Create  `cmd:"" help:"Make a sandbox and print its id."`
	List    List    `cmd:"" help:"List sandboxes."`
	Info    Info    `cmd:"" help:"Describe a sandbox."`
	Kill    Kill    `cmd:"" help:"End sandboxes for good."`
	Pause   Pause   `cmd:"" help:"Freeze a sandbox, with its memory."`
	Resume  Resume  `cmd:"" help:"Continue a paused sandbox."`
	Timeout Timeout `cmd:"" help:"Say how long a sandbox lives from now."`
	Metrics Metrics `cmd:"" help:"Show what a sandbox uses."`

	Exec     Exec     `cmd:"" help:"Run a command in a sandbox."`
	Shell    Shell    `cmd:"" help:"Open a shell in a sandbox."`
	Forward  Forward  `cmd:"" help:"Reach a port of a sandbox at 127.0.0.1."`
	Files    Files    `cmd:"" help:"Work with the files of a sandbox."`
	Copy     Copy     `cmd:"" name:"cp" help:"Copy files and directories into or out of a sandbox: one side is ID:PATH."`
	Upload   Upload   `cmd:"" help:"Copy a file or directory into a sandbox."`
	Download Download `cmd:"" help:"Copy a file or directory out of a sandbox."`

	Template Template `cmd:"" help:"Build, list and remove templates of the local provider."`

	Serve      Serve      `cmd:"" help:"Serve the local provider to any E2B SDK."`
	Page       Page       `cmd:"" help:"Print the address of a page of serve --pages, with a one-time code that gives it its key."`
	Env        Env        `cmd:"" help:"Print the variables that point E2B SDKs at the local server, which is started when none runs."`
	Doctor     Doctor     `cmd:"" help:"Say what this machine lacks for the local provider, and what mends it."`
	Host       Host       `cmd:"" hidden:"" help:"Run the core for a host in another language."`
	Version    Version    `cmd:"" help:"Print the version."`
	Completion Completion `cmd:"" help:"Print the completion of a shell."`
}
