package command

import "time"

// Template is `sandboxc template`.
type Template struct {
	Build  TemplateBuild  `cmd:"" help:"Build a template on this machine: one that comes with sandboxc, or one of your own."`
	List   TemplateList   `cmd:"" help:"List the templates of this machine."`
	Remove TemplateRemove `cmd:"" help:"Remove templates that were built; sandboxes that run keep theirs until they end."`
}

// TemplateBuild is `sandboxc template build`.
type TemplateBuild struct {
	Name    string   `arg:"" help:"The template: code-interpreter-v1, or the name of a new one."`
	Base    string   `placeholder:"NAME" help:"Template to start from, of this machine. Default: python-base with --pip, else base."`
	Pip     []string `sep:"none" placeholder:"PACKAGE" help:"A Python package, as pip spells it."`
	Copy    []string `sep:"none" placeholder:"SRC:DST" help:"A file or directory of this machine to copy in."`
	Command []string `name:"run" sep:"none" placeholder:"COMMAND" help:"A line of bash, run as root."`
	Env     []string `short:"e" sep:"none" placeholder:"K=V" help:"A variable for every process of its sandboxes."`
	Fresh   bool     `help:"Do every step again, even where nothing has changed."`
	Timeout float64  `default:"1800" placeholder:"SECONDS" help:"How long the build may take; 0 = no end."`
}

// Help is shown below the usage.
func (*TemplateBuild) Help() string {
	return `Packages come from where this machine's own pip and npm get theirs.

  sandboxc template build code-interpreter-v1
  sandboxc template build mine --pip requests --copy ./app:/srv/app --run 'apt-get update && apt-get install -y jq'

The order is --pip, --copy, --run. A step that has not changed is not done again; a build that failed goes on where it stopped.`
}

// TemplateList is `sandboxc template list`.
type TemplateList struct{}

// TemplateRemove is `sandboxc template remove`.
type TemplateRemove struct {
	Names []string `arg:"" name:"name" help:"The templates."`
}

// templateRow is a template as --json prints it.
type templateRow struct {
	Name        string    `json:"name"`
	State       string    `json:"state"` // ready, not built, outdated
	Base        string    `json:"base,omitempty"`
	Size        int64     `json:"size,omitempty"` // bytes
	Built       time.Time `json:"built,omitzero"`
	Description string    `json:"description,omitempty"`
}
