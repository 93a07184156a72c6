package template

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Recipe says what a template is made of.
type Recipe struct {
	// Name is what sandboxes are made from.
	Name string
	// Description is one line for lists.
	Description string
	// Base is the template that the first step starts from, one that was built or
	// one that needs no build; "" is base.
	Base string
	// Env are variables of every process of its sandboxes. Steps have them too.
	Env map[string]string
	// Steps are done in order, each over what the ones before it wrote.
	Steps []Step
}

// Step is one layer. Either Run or Files is set.
type Step struct {
	// Title is what is shown while it runs; "" = the command.
	Title string
	// Run is a line of bash.
	Run string
	// User runs it: root, or user with the home /home/user; "" is root.
	User string
	// Files are put into the template, owned by User.
	Files []File
}

// File is a file or directory of the template.
type File struct {
	// Path inside, absolute.
	Path string
	// Content is what it holds, unless Source is set.
	Content []byte
	// Source is a file or directory of this machine to copy, links as links.
	Source string
	// Mode are the permissions of a file with Content; 0 = 0644.
	Mode uint32
}

// InvalidError says what is wrong with a recipe.
type InvalidError struct{ Message string }

func (e *InvalidError) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &InvalidError{fmt.Sprintf(format, args...)}
}

// maxName bounds a template's name.
const maxName = 63

// ValidName tells whether templates can be called so (e2b.md 1.3).
func ValidName(name string) bool {
	return len(name) <= maxName && regexp.MustCompile(`^[a-z0-9_][a-z0-9_-]*$`).MatchString(name)
}

// own are the templates that need no build.
var own = [...]string{"base", "python-base", "node-base"}

// maxSteps keeps a template within the number of layers that one sandbox can have.
const maxSteps = 32

// Check finds what is wrong with a recipe before anything is done; its error is
// an *InvalidError.
func (r *Recipe) Check() error {
	switch {
	case !ValidName(r.Name):
		return invalid("template name %q: it must be at most %d small letters, digits, - and _", r.Name, maxName)
	case slices.Contains(own[:], r.Name):
		return invalid("template name %q: that one needs no build", r.Name)
	case len(r.Steps) == 0:
		return invalid("template %s: there is nothing to build", r.Name)
	case len(r.Steps) > maxSteps:
		return invalid("template %s: %d steps are more than %d", r.Name, len(r.Steps), maxSteps)
	}
	var errs []error
	for i := range r.Steps {
		if err := r.Steps[i].check(); err != nil {
			errs = append(errs, invalid("template %s, step %d: %v", r.Name, i+1, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Step) check() error {
	switch {
	case (s.Run == "") == (len(s.Files) == 0):
		return errors.New("it needs a command or files, one of them")
	case strings.ContainsRune(s.Run, 0):
		return errors.New("the command has a NUL byte")
	case s.User != "" && s.User != "root" && s.User != "user":
		return fmt.Errorf("user %q: it must be root or user", s.User)
	}
	for _, f := range s.Files {
		if !path.IsAbs(f.Path) || path.Clean(f.Path) == "/" || strings.ContainsRune(f.Path, 0) {
			return fmt.Errorf("file %q: the path must be absolute", f.Path)
		}
	}
	return nil
}

// maxTitle is how much of a command is its title.
const maxTitle = 60

// title is what a person reads.
func (s *Step) title() string {
	if s.Title != "" {
		return s.Title
	}
	if s.Run != "" {
		line, _, _ := strings.Cut(s.Run, "\n")
		if runes := []rune(line); len(runes) > maxTitle {
			line = string(runes[:maxTitle-1]) + "…"
		}
		return line
	}
	return "copy to " + s.Files[0].Path
}

func (s *Step) user() string {
	if s.User == "" {
		return "root"
	}
	return s.User
}
