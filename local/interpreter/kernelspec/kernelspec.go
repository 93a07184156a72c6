// Package kernelspec finds the Jupyter kernels that are installed, where
// Jupyter itself looks for them.
package kernelspec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spec is one installed kernel.
type Spec struct {
	// Name is that of its directory, in lower case.
	Name string
	// Dir is the directory.
	Dir string
	// Argv starts the kernel, with {connection_file} and {resource_dir} in it.
	Argv []string
	// Language as the kernel spells it, as "python" or "R".
	Language string
	// ByMessage is set when the kernel is interrupted by a message, not by SIGINT.
	ByMessage bool
	// Env are variables of its own; they may use those that are there as ${NAME}.
	Env map[string]string
}

// file is kernel.json.
type file struct {
	Argv          []string          `json:"argv"`
	Language      string            `json:"language"`
	InterruptMode string            `json:"interrupt_mode"`
	Env           map[string]string `json:"env"`
}

// Places are the directories that hold kernels, those that win first, for a
// process with these variables. They need not exist.
func Places(env map[string]string) []string {
	var list []string
	add := func(dir string) {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	for dir := range strings.SplitSeq(env["JUPYTER_PATH"], ":") {
		add(filepath.Join(dir, "kernels"))
	}
	home := env["HOME"]
	switch data := env["JUPYTER_DATA_DIR"]; {
	case data != "":
		add(filepath.Join(data, "kernels"))
	case env["XDG_DATA_HOME"] != "":
		add(filepath.Join(env["XDG_DATA_HOME"], "jupyter/kernels"))
	case home != "":
		add(filepath.Join(home, ".local/share/jupyter/kernels"))
	}
	if home != "" {
		add(filepath.Join(home, ".local/share/jupyter/kernels"))
	}
	for dir := range strings.SplitSeq(env["PATH"], ":") {
		if filepath.Base(dir) == "bin" {
			add(filepath.Join(filepath.Dir(dir), "share/jupyter/kernels"))
		}
	}
	add("/usr/local/share/jupyter/kernels")
	add("/usr/share/jupyter/kernels")
	if home != "" {
		add(filepath.Join(home, ".ipython/kernels"))
	}
	return list
}

// List finds all kernels in the places. Of two with one name the first wins.
func List(places []string) []Spec {
	var list []Spec
	seen := map[string]bool{}
	for _, place := range places {
		entries, err := os.ReadDir(place)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := strings.ToLower(e.Name())
			if seen[name] {
				continue
			}
			if s, err := Read(filepath.Join(place, e.Name())); err == nil {
				seen[name] = true
				list = append(list, s)
			}
		}
	}
	return list
}

// Read reads the kernel of one directory.
func Read(dir string) (Spec, error) {
	b, err := os.ReadFile(filepath.Join(dir, "kernel.json"))
	if err != nil {
		return Spec{}, err
	}
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return Spec{}, fmt.Errorf("kernelspec %s: %w", dir, err)
	}
	if len(f.Argv) == 0 || f.Argv[0] == "" {
		return Spec{}, fmt.Errorf("kernelspec %s: no argv", dir)
	}
	s := Spec{
		Name: strings.ToLower(filepath.Base(dir)), Dir: dir, Argv: f.Argv, Language: f.Language,
		ByMessage: f.InterruptMode == "message", Env: f.Env,
	}
	// Deno's own file does not say so, but SIGINT ends it and the message works.
	s.ByMessage = s.ByMessage || s.IsDeno()
	return s, nil
}

// Command is argv with its placeholders filled in. A program without a
// directory is that of the prefix that the kernel is installed in, where it has one.
func (s Spec) Command(connectionFile string) []string {
	fill := strings.NewReplacer("{connection_file}", connectionFile, "{resource_dir}", s.Dir, "{prefix}", s.prefix())
	argv := make([]string, len(s.Argv))
	for i, a := range s.Argv {
		argv[i] = fill.Replace(a)
	}
	if !strings.Contains(argv[0], "/") && s.prefix() != "" {
		own := filepath.Join(s.prefix(), "bin", argv[0])
		if fi, err := os.Stat(own); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			argv[0] = own
		}
	}
	return argv
}

// prefix is P for a kernel in P/share/jupyter/kernels; "" = elsewhere.
func (s Spec) prefix() string {
	dir, ok := strings.CutSuffix(filepath.Dir(s.Dir), "/share/jupyter/kernels")
	if !ok || filepath.Base(dir) == ".local" {
		return ""
	}
	return dir
}

// Variables are the kernel's own, with those of env filled in.
func (s Spec) Variables(env map[string]string) map[string]string {
	own := make(map[string]string, len(s.Env))
	for name, value := range s.Env {
		own[name] = os.Expand(value, func(n string) string {
			if v, ok := env[n]; ok {
				return v
			}
			return "${" + n + "}"
		})
	}
	return own
}

// IsPython reports whether a Python program is the kernel, whatever language
// it runs.
func (s Spec) IsPython() bool {
	return strings.HasPrefix(filepath.Base(s.Argv[0]), "python")
}

// IsDeno reports whether Deno is the kernel.
func (s Spec) IsDeno() bool { return len(s.Argv) > 0 && filepath.Base(s.Argv[0]) == "deno" }
