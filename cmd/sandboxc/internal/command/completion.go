package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is `sandboxc completion`.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script for a shell's start-up file.
func (c *Completion) Run(a *App, parsed *kong.Context) error {
	levels := levelsOf(parsed.Model.Node, "")
	switch c.Shell {
	case "zsh":
		return zsh(a.Out, levels)
	case "fish":
		return fish(a.Out, levels)
	}
	return bash(a.Out, levels)
}

// level is what may follow one command.
type level struct {
	path  string // "" = sandboxc itself, "files ls", ...
	words []word
}

type word struct {
	text string
	help string
	arg  bool // a flag that takes a value
}

func levelsOf(n *kong.Node, path string) []level {
	l := level{path: path}
	for _, flags := range n.AllFlags(true) {
		for _, f := range flags {
			l.words = append(l.words, word{"--" + f.Name, f.Help, !f.IsBool()})
		}
	}
	var below []level
	for _, child := range n.Children {
		if child.Type != kong.CommandNode || child.Hidden {
			continue
		}
		l.words = append(l.words, word{text: child.Name, help: child.Help})
		below = append(below, levelsOf(child, strings.TrimSpace(path+" "+child.Name))...)
	}
	return append([]level{l}, below...)
}

func (l level) texts() string {
	texts := make([]string, len(l.words))
	for i, w := range l.words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// cases finds the command in the words so far.
func cases(w io.Writer, variable string, levels []level) {
	for _, l := range levels {
		if l.path == "" {
			continue
		}
		before, last := "", l.path
		if cut := strings.LastIndexByte(l.path, ' '); cut >= 0 {
			before, last = l.path[:cut], l.path[cut+1:]
		}
		_, _ = fmt.Fprintf(w, "      %s) %s=%s;;\n", quote(before+" "+last), variable, quote(l.path))
	}
}

func choices(w io.Writer, levels []level) {
	for _, l := range levels {
		_, _ = fmt.Fprintf(w, "    %s) list=%s;;\n", quote(l.path), quote(l.texts()))
	}
}

const (
	bashHead = `# bash completion of sandboxc:  source <(sandboxc completion bash)
_sandboxc() {
  local list="" seen="" word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$seen $word" in
`
	bashTail = `  esac
  COMPREPLY=($(compgen -W "$list" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sandboxc sandboxc
`
	zshHead = `#compdef sandboxc
# zsh completion of sandboxc:  source <(sandboxc completion zsh)
_sandboxc() {
  local list="" seen="" word
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$seen $word" in
`
	zshTail = `  esac
  compadd -- ${=list}
  _files
}
compdef _sandboxc sandboxc
`
	between = `    esac
  done
  case "$seen" in
`
)

func bash(w io.Writer, levels []level) error { return script(w, levels, bashHead, bashTail) }

func zsh(w io.Writer, levels []level) error { return script(w, levels, zshHead, zshTail) }

func script(w io.Writer, levels []level, head, tail string) error {
	var b strings.Builder
	b.WriteString(head)
	cases(&b, "seen", levels)
	b.WriteString(between)
	choices(&b, levels)
	b.WriteString(tail)
	_, err := io.WriteString(w, b.String())
	return err
}

func fish(w io.Writer, levels []level) error {
	_, _ = fmt.Fprintln(w, "# fish completion of sandboxc:  sandboxc completion fish | source")
	for _, l := range levels {
		condition := "__fish_use_subcommand"
		if l.path != "" {
			condition = "__fish_seen_subcommand_from " + strings.ReplaceAll(l.path, " ", "; and __fish_seen_subcommand_from ")
		}
		for _, word := range l.words {
			_, err := fmt.Fprintf(w, "complete -c sandboxc -n %s %s -d %s\n", quote(condition), fishWord(word), quote(word.help))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func fishWord(w word) string {
	flag, isFlag := strings.CutPrefix(w.text, "--")
	switch {
	case !isFlag:
		return "-f -a " + quote(w.text)
	case w.arg:
		return "-r -l " + quote(flag)
	}
	return "-l " + quote(flag)
}
