package interpreter

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

// workshop knows what kernels are made of.
type workshop struct {
	options *Options
	kills   *memoryKills
}

// standardPath serves when the sandbox's variables name no PATH.
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment are the variables of a process of the account.
func (w *workshop) environment(user daemon.User) map[string]string {
	env := map[string]string{"PATH": standardPath, "HOME": user.Home, "USER": user.Name, "LOGNAME": user.Name}
	maps.Copy(env, w.options.Env())
	return env
}

// denoNeeds is the memory that Deno's two engines reserve for machine code, and
// what else they use.
const denoNeeds = 1536 << 20

// kernelEnvironment are those of a kernel. R, for one, prints no text beyond
// ASCII where no locale is named; Deno does not start where it may not reserve
// memory for machine code, unless it makes none.
func (w *workshop) kernelEnvironment(user daemon.User, spec kernelspec.Spec) map[string]string {
	env := w.environment(user)
	if env["LANG"] == "" && env["LC_ALL"] == "" && env["LC_CTYPE"] == "" {
		env["LANG"] = "C.UTF-8"
	}
	if spec.IsDeno() {
		w.denoEnvironment(env)
	}
	maps.Copy(env, spec.Variables(env))
	return env
}

// denoEnvironment are the variables of Deno besides: its results are values, not text
// for a terminal, unless the sandbox's variables ask for colours.
func (w *workshop) denoEnvironment(env map[string]string) {
	if most := w.options.ProcessMemory; most > 0 && most < denoNeeds && env["DENO_V8_FLAGS"] == "" {
		env["DENO_V8_FLAGS"] = "--jitless"
	}
	if _, given := env["NO_COLOR"]; !given && env["FORCE_COLOR"] == "" {
		env["NO_COLOR"] = "1"
	}
}

// noKernelError says that no kernel runs a language here.
type noKernelError struct {
	language string
	// have are the languages and kernels that are there.
	have []string
}

func (e *noKernelError) Error() string {
	if len(e.have) == 0 {
		return "this sandbox has no Jupyter kernel: create it from the template code-interpreter-v1 " +
			"(made by `sandboxc template build code-interpreter-v1`), or install one, as by `pip install ipykernel`"
	}
	return fmt.Sprintf("no kernel for language %q: this sandbox has %s", e.language, strings.Join(e.have, ", "))
}

// find finds the kernel for a normalised language. Kernels may be installed at
// any time: it looks anew each time.
func (w *workshop) find(language string) (kernelspec.Spec, error) {
	user, err := w.user()
	if err != nil {
		return kernelspec.Spec{}, err
	}
	list := kernelspec.List(kernelspec.Places(w.environment(user)))
	if s, ok := kernelspec.For(language, list); ok {
		return s, nil
	}
	return kernelspec.Spec{}, &noKernelError{language: language, have: kernelspec.Languages(list)}
}

func (w *workshop) user() (daemon.User, error) {
	user, err := w.options.Users.Lookup(w.options.User)
	if err != nil {
		return user, fmt.Errorf("user %q: %w", w.options.User, err)
	}
	return user, nil
}

// directory makes the private directory for one kernel.
func (w *workshop) directory(user daemon.User) (string, error) {
	if err := os.MkdirAll(w.options.Dir, 0o711); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(w.options.Dir, "")
	if err != nil {
		return "", err
	}
	return dir, w.give(dir, user)
}

// give makes a file or directory the account's.
func (w *workshop) give(path string, user daemon.User) error {
	uid, gid := w.options.Users.OwnerOf(user)
	if uid < 0 {
		return nil
	}
	return os.Chown(path, uid, gid)
}

// write makes a file that only the account may read.
func (w *workshop) write(path string, content []byte, user daemon.User) error {
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	return w.give(path, user)
}

var errNoDirectory = errors.New("is not a directory")

// workingDir is the absolute directory of a context; "" is home.
func (w *workshop) workingDir(cwd string) (string, error) {
	user, err := w.user()
	if err != nil {
		return "", err
	}
	switch {
	case cwd == "" || cwd == "~":
		cwd = user.Home
	case strings.HasPrefix(cwd, "~/"):
		cwd = filepath.Join(user.Home, cwd[2:])
	case !filepath.IsAbs(cwd):
		cwd = filepath.Join(user.Home, cwd)
	}
	info, err := os.Stat(cwd)
	if err == nil && !info.IsDir() {
		err = errNoDirectory
	}
	if err != nil {
		return "", fmt.Errorf("cwd %q: %w", cwd, err)
	}
	return cwd, nil
}

// program finds what a kernel's argv[0] names.
func program(name, path, dir string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for entry := range strings.SplitSeq(path, ":") {
		if !filepath.IsAbs(entry) {
			entry = filepath.Join(dir, entry)
		}
		file := filepath.Join(entry, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s: command not found", name)
}
