//go:build linux

package isolation

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Template is a file tree: the host's /usr and a fresh root, and over them what a
// build wrote, if there was one.
type Template struct {
	ID      string
	Aliases []string
	// Names are host directories that the template shows beside /usr itself:
	// /usr/local and /opt appear empty otherwise.
	Names       []string
	Description string
	// Layers are directories with what a build wrote, topmost first, as Layer
	// leaves them.
	Layers []string
	// Built is when; zero for one without a build.
	Built time.Time
	// Env are variables of every process; a Spec's own win.
	Env map[string]string
	// Hold keeps the layers from being removed until release; nil = nothing does.
	Hold func() (release func(), err error)
}

// UnknownTemplateError says that there is no such template here.
type UnknownTemplateError struct{ ID string }

func (e *UnknownTemplateError) Error() string {
	return fmt.Sprintf("unknown template %q: this server has base, python-base and, where node is installed, node-base", e.ID)
}

// Templates lists what can be started on this machine.
func (e *Engine) Templates() []Template {
	list := bases()
	if e.built != nil {
		list = append(list, e.built()...)
	}
	return list
}

// Base finds a template that needs no build; ok = this machine has it.
func Base(id string) (t Template, ok bool) {
	for _, t := range bases() {
		if t.ID == id {
			return t, true
		}
	}
	return Template{}, false
}

// bases are the templates that need no build.
func bases() []Template {
	list := []Template{{ID: "base", Description: "The host's /usr, read and written through a layer of the sandbox's own"}}
	if names, ok := program("python3"); ok {
		list = append(list, Template{ID: "python-base", Names: names, Description: "base with the host's Python"})
	}
	if names, ok := program("node"); ok {
		list = append(list, Template{ID: "node-base", Names: names, Description: "base with the host's Node.js"})
	}
	return list
}

// hold keeps a template's layers as long as a sandbox uses them.
func (t *Template) hold() (release func(), err error) {
	if t.Hold == nil {
		return func() {}, nil
	}
	return t.Hold()
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
