//go:build linux

package isolation

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Template is a file tree that needs no build: the host's /usr and a fresh
// root.
type Template struct {
	ID      string
	Aliases []string
	// Names are host directories that the template shows beside /usr itself:
	// /usr/local and /opt appear empty otherwise.
	Names       []string
	Description string
}

// UnknownTemplateError says that there is no such template here.
type UnknownTemplateError struct{ ID string }

func (e *UnknownTemplateError) Error() string {
	return fmt.Sprintf("unknown template %q: this server has base, python-base and, where node is installed, node-base", e.ID)
}

// Templates lists what can be started on this machine.
func (e *Engine) Templates() []Template {
	list := []Template{{ID: "base", Description: "The host's /usr, read and written through a layer of the sandbox's own"}}
	if names, ok := program("python3"); ok {
		list = append(list, Template{ID: "python-base", Names: names, Description: "base with the host's Python"})
	}
	if names, ok := program("node"); ok {
		list = append(list, Template{ID: "node-base", Names: names, Description: "base with the host's Node.js"})
	}
	return list
}

func (e *Engine) template(id string) (Template, error) {
	for _, t := range e.Templates() {
		if t.ID == id || slices.Contains(t.Aliases, id) {
			return t, nil
		}
	}
	return Template{}, &UnknownTemplateError{id}
}

// program tells whether a sandbox can have the host's program, and which
// directory beside /usr/bin it takes.
func program(name string) (names []string, ok bool) {
	if isFile("/usr/bin/" + name) {
		return nil, true
	}
	if isFile("/usr/local/bin/" + name) {
		return []string{"/usr/local"}, true
	}
	return nil, false
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}

// hidden are the directories of /usr that appear empty in the template.
func (t Template) hidden() []string {
	list := []string{"/usr/etc", "/usr/local"}
	return slices.DeleteFunc(list, func(dir string) bool { return slices.Contains(t.Names, dir) })
}

// removed are files of the host that would be in the way inside: pip refuses
// to install where EXTERNALLY-MANAGED lies.
func removed() []string {
	var list []string
	entries, _ := os.ReadDir("/usr/lib")
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "python3") && isFile("/usr/lib/"+e.Name()+"/EXTERNALLY-MANAGED") {
			list = append(list, "/usr/lib/"+e.Name()+"/EXTERNALLY-MANAGED")
		}
	}
	return list
}
