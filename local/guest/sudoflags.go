//go:build linux

package guest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
)

// sudoOptions are what sudo's command line says.
type sudoOptions struct {
	user                string
	keep, login, shell  bool
	variables, command  []string
	list, validateCreds bool
}

// parseSudo reads the flags that scripts use. done is set when there is
// nothing to run (-v, -k, -l).
func parseSudo(args []string) (o *sudoOptions, done bool, err error) {
	o = &sudoOptions{user: "root"}
	rest, err := o.flags(args)
	if err != nil {
		return nil, false, err
	}
	for len(rest) > 0 && isAssignment(rest[0]) {
		o.variables = append(o.variables, rest[0])
		rest = rest[1:]
	}
	o.command = rest
	if o.list {
		fmt.Println("User user may run the following commands: (ALL : ALL) NOPASSWD: ALL")
	}
	return o, (o.list || o.validateCreds) && len(rest) == 0, nil
}

func (o *sudoOptions) flags(args []string) ([]string, error) {
	for len(args) > 0 {
		a := args[0]
		if a == "--" {
			return args[1:], nil
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			return args, nil
		}
		args = args[1:]
		var err error
		if strings.HasPrefix(a, "--") {
			args, err = o.long(a[2:], args)
		} else {
			args, err = o.short(a[1:], args)
		}
		if err != nil {
			return nil, err
		}
	}
	return args, nil
}

// letters of the long flags.
var longFlags = map[string]byte{
	"user": 'u', "preserve-env": 'E', "login": 'i', "shell": 's', "non-interactive": 'n', "set-home": 'H',
	"stdin": 'S', "validate": 'v', "reset-timestamp": 'k', "remove-timestamp": 'K', "list": 'l', "group": 'g',
	"prompt": 'p', "askpass": 'A',
}

func (o *sudoOptions) long(flag string, args []string) ([]string, error) {
	name, value, has := strings.Cut(flag, "=")
	letter, ok := longFlags[name]
	if !ok {
		return nil, fmt.Errorf("unknown option --%s", name)
	}
	if letter == 'E' && has {
		// --preserve-env=A,B keeps only these.
		for _, v := range strings.Split(value, ",") {
			if x, set := os.LookupEnv(v); set {
				o.variables = append(o.variables, v+"="+x)
			}
		}
		return args, nil
	}
	if has {
		args = append([]string{value}, args...)
	}
	return o.flag(letter, args)
}

func (o *sudoOptions) short(letters string, args []string) ([]string, error) {
	for i := 0; i < len(letters); i++ {
		if takesValue(letters[i]) && i+1 < len(letters) {
			return o.flag(letters[i], append([]string{letters[i+1:]}, args...))
		}
		var err error
		if args, err = o.flag(letters[i], args); err != nil {
			return nil, err
		}
	}
	return args, nil
}

func takesValue(letter byte) bool { return strings.IndexByte("ugpCrtThRD", letter) >= 0 }

func (o *sudoOptions) flag(letter byte, args []string) ([]string, error) {
	switch letter {
	case 'E':
		o.keep = true
	case 'i':
		o.login = true
	case 's':
		o.shell = true
	case 'l':
		o.list = true
	case 'v', 'k', 'K':
		o.validateCreds = true
	case 'n', 'H', 'S', 'A', 'b', 'P':
		// No password, no prompt, HOME always set: nothing to do.
	case 'u', 'g', 'p':
		if len(args) == 0 {
			return nil, fmt.Errorf("option -%c needs a value", letter)
		}
		if letter == 'u' {
			o.user = args[0]
		}
		return args[1:], nil
	default:
		return nil, fmt.Errorf("unknown option -%c", letter)
	}
	return args, nil
}

func isAssignment(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && !strings.ContainsAny(name, "/-. ")
}

// account finds the target account as far as the client needs it.
func (o *sudoOptions) account() (daemon.User, error) {
	db := daemon.NewPasswdDB("/etc/passwd", "/etc/group")
	if number, ok := strings.CutPrefix(o.user, "#"); ok {
		id, err := strconv.Atoi(number)
		if err != nil {
			return daemon.User{}, fmt.Errorf("unknown user: %s", o.user)
		}
		if u, err := db.Lookup(db.NameOf(id)); err == nil {
			return u, nil
		}
		return daemon.User{Name: number, UID: id, GID: id, Home: "/", Shell: "/bin/sh"}, nil
	}
	u, err := db.Lookup(o.user)
	if errors.Is(err, daemon.ErrUnknownUser) {
		return u, fmt.Errorf("unknown user: %s", o.user)
	}
	return u, err
}

// passed are the variables that survive without -E: what a terminal and the
// network need.
var passed = [...]string{
	"PIP_INDEX_URL", "PIP_RETRIES", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "DEBIAN_FRONTEND", "E2B_SANDBOX", "E2B_SANDBOX_ID", "E2B_TEMPLATE_ID",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

func (o *sudoOptions) environment(u daemon.User) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !ownVariable(name) && (o.keep || isPassed(name)) {
			env = append(env, kv)
		}
	}
	shell := u.Shell
	if shell == "" {
		shell = "/bin/sh"
	}
	env = append(env, "PATH="+Path, "HOME="+u.Home, "USER="+u.Name, "LOGNAME="+u.Name, "SHELL="+shell,
		"SUDO_USER="+caller(), "SUDO_UID="+strconv.Itoa(os.Getuid()), "SUDO_GID="+strconv.Itoa(os.Getgid()),
		"SUDO_COMMAND="+strings.Join(o.command, " "))
	return append(env, o.variables...)
}

// ownVariable is set by sudo itself.
func ownVariable(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "SUDO_USER", "SUDO_UID", "SUDO_GID", "SUDO_COMMAND":
		return true
	}
	return false
}

func isPassed(name string) bool {
	if strings.HasPrefix(name, "LC_") {
		return true
	}
	for _, p := range append(passed[:], caVariables[:]...) {
		if p == name {
			return true
		}
	}
	return false
}

func caller() string {
	return daemon.NewPasswdDB("/etc/passwd", "/etc/group").NameOf(os.Getuid())
}

// shellArgs runs the command, if any, through the account's shell.
func (o *sudoOptions) shellArgs(u daemon.User) []string {
	shell := u.Shell
	if o.shell && os.Getenv("SHELL") != "" {
		shell = os.Getenv("SHELL")
	}
	if shell == "" {
		shell = "/bin/sh"
	}
	if len(o.command) == 0 {
		return []string{shell}
	}
	quoted := make([]string, len(o.command))
	for i, a := range o.command {
		quoted[i] = quote(a)
	}
	return []string{shell, "-c", strings.Join(quoted, " ")}
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func base(p string) string { return path.Base(p) }
