package command

const description = `Run code in sandboxes: on this machine, or at any provider that speaks E2B's API.`

// CLI is every command.
type CLI struct {
	Globals

	Run     Run     `cmd:"" help:"Run a command in a new sandbox, which is gone afterwards."`
	Serve   Serve   `cmd:"" help:"Serve the local provider to any E2B SDK."`
	Env     Env     `cmd:"" help:"Print the variables that point E2B SDKs at the local server."`
	Version Version `cmd:"" help:"Print the version."`
}
