package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/progress"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/template"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// openTemplates opens those of this user.
func openTemplates() (*template.Store, error) {
	return template.Open(template.Dir(native.StateDir(os.Getenv)))
}

// Run builds it.
func (t *TemplateBuild) Run(a *App) error {
	recipe, err := t.recipe()
	if err != nil {
		return err
	}
	store, err := openTemplates()
	if err != nil {
		return err
	}
	ctx, cancel := t.clock(a.ctx)
	defer cancel()
	show := newBuildShow(a, len(recipe.Steps))
	info, err := store.Build(ctx, recipe, template.Options{
		StateDir: native.StateDir(os.Getenv), Getenv: os.Getenv, Environ: os.Environ(), Fresh: t.Fresh, Events: show.event,
	})
	show.stop()
	if err != nil {
		return t.explain(ctx, a, err)
	}
	return a.Line(rowOf(info, "ready"), "%s is ready: %s", info.Name, size(info.Size))
}

func (t *TemplateBuild) clock(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(t.Timeout*float64(time.Second)))
}

// recipe is the shipped one of the name, or what the flags say.
func (t *TemplateBuild) recipe() (template.Recipe, error) {
	own := len(t.Pip)+len(t.Copy)+len(t.Command) > 0
	if r, ok := template.Shipped(t.Name); ok {
		if own || t.Base != "" || len(t.Env) > 0 {
			return r, fault.InvalidArgument("%s comes with sandboxc: it takes none of --base, --pip, --copy, --run, --env", t.Name).
				Suggest("give your own template another name")
		}
		return r, nil
	}
	if !own {
		return template.Recipe{}, fault.New(fault.CodeTemplateNotFound, "no template %q comes with sandboxc, and there is no step to build one", t.Name).
			Suggest("give --pip, --copy or --run; or build %s", template.CodeInterpreter)
	}
	r := template.Recipe{Name: t.Name, Base: t.Base}
	if r.Base == "" && len(t.Pip) > 0 {
		r.Base = "python-base"
	}
	var err error
	if r.Env, err = parseEnvs(t.Env, os.LookupEnv); err != nil {
		return r, err
	}
	if len(t.Pip) > 0 {
		r.Steps = append(r.Steps, template.Pip(t.Pip))
	}
	for _, item := range t.Copy {
		source, target, ok := strings.Cut(item, ":")
		if !ok || source == "" {
			return r, fault.InvalidArgument("--copy %q must be SRC:DST", item)
		}
		if _, err := os.Stat(source); err != nil {
			return r, fault.InvalidArgument("--copy: %s", reason(err))
		}
		r.Steps = append(r.Steps, template.Step{Files: []template.File{{Path: target, Source: source}}})
	}
	for _, command := range t.Command {
		r.Steps = append(r.Steps, template.Step{Run: command})
	}
	return r, nil
}

// explain puts an error of a build into ours, after what the step said last.
func (*TemplateBuild) explain(ctx context.Context, a *App, err error) error {
	var invalid *template.InvalidError
	var base *template.BaseError
	var step *template.StepError
	var refused *isolation.RefusedError
	switch {
	case a.ctx.Err() != nil:
		return context.Cause(a.ctx)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.New(fault.CodeTemplateBuildTimeout, "the build has not ended in time; what it has done is kept").Because(err).
			Suggest("build it again, with a longer --timeout")
	case errors.As(err, &invalid):
		return fault.InvalidArgument("%s", invalid.Message)
	case errors.As(err, &base):
		return fault.New(fault.CodeTemplateBuild, "%s", base.Error()).Because(err)
	case errors.As(err, &refused):
		return fault.New(fault.CodeTemplateBuild, "%s", refused.Error()).Because(err).Suggest("%s", refused.Fix)
	case errors.As(err, &step):
		if !a.flags.Verbose {
			for line := range strings.Lines(step.Tail) {
				_, _ = fmt.Fprintln(a.Err, "  "+output.Clean(strings.TrimRight(line, "\r\n")))
			}
		}
		return fault.New(fault.CodeTemplateBuild, "%s", step.Error()).Because(err).
			Suggest("the steps before it are kept: build it again when that is mended; -v shows all that a step says")
	}
	return fault.New(fault.CodeTemplateBuild, "the template could not be built: %v", err).Because(err)
}

// buildShow tells a person how far a build is.
type buildShow struct {
	app     *App
	steps   *progress.Steps
	partial []byte
}

func newBuildShow(a *App, of int) *buildShow {
	s := &buildShow{app: a}
	if a.Terminal && !a.Quiet && !a.JSON && !a.flags.Verbose {
		s.steps = progress.StartSteps(a.Err, of)
	}
	return s
}

func (s *buildShow) stop() { s.steps.Stop() }

func (s *buildShow) event(e template.Event) {
	switch e.Kind {
	case template.Output:
		s.output(e.Text)
		return
	case template.Cached, template.Done:
		s.steps.Done()
	}
	s.partial = s.partial[:0]
	s.steps.Title(output.Clean(e.Title))
	if e.Kind == template.Waiting {
		s.steps.Say("another build does it")
	}
	if s.steps == nil && !s.app.JSON {
		s.app.Note("step %d of %d, %s: %s", e.Step, e.Of, e.Kind, output.Clean(e.Title))
	}
}

// maxPartial bounds a line without an end.
const maxPartial = 4096

// output shows what a step says: all of it with -v, else its last line.
func (s *buildShow) output(text []byte) {
	if s.app.flags.Verbose {
		for line := range bytes.Lines(text) {
			_, _ = io.WriteString(s.app.Err, output.Clean(strings.TrimRight(string(line), "\r\n"))+"\n")
		}
		return
	}
	s.partial = append(s.partial, text...)
	for {
		i := bytes.IndexAny(s.partial, "\r\n")
		if i < 0 {
			break
		}
		if line := strings.TrimSpace(string(s.partial[:i])); line != "" {
			s.steps.Say(output.Clean(line))
		}
		s.partial = s.partial[i+1:]
	}
	if len(s.partial) > maxPartial {
		s.partial = nil
	}
}

// Run lists them.
func (*TemplateList) Run(a *App) error {
	store, err := openTemplates()
	if err != nil {
		return err
	}
	all := []templateRow{}
	for _, id := range []string{"base", "python-base", "node-base"} {
		if t, ok := isolation.Base(id); ok {
			all = append(all, templateRow{Name: id, State: "ready", Description: t.Description})
		}
	}
	built := store.List()
	if _, err := store.Get(template.CodeInterpreter); err != nil {
		r, _ := template.Shipped(template.CodeInterpreter)
		all = append(all, templateRow{Name: r.Name, State: "not built", Base: r.Base, Description: r.Description})
	}
	for _, info := range built {
		state := "outdated"
		if store.Usable(info) {
			state = "ready"
		}
		all = append(all, rowOf(info, state))
	}
	var rows [][]string
	for _, t := range all {
		space, built := "", ""
		if !t.Built.IsZero() {
			space, built = size(t.Size), clock(t.Built)
		}
		rows = append(rows, []string{t.Name, t.State, space, built, t.Description})
	}
	return a.Table(all, []string{"TEMPLATE", "STATE", "SIZE", "BUILT", "WHAT IT IS"}, rows)
}

func rowOf(info template.Info, state string) templateRow {
	return templateRow{Name: info.Name, State: state, Base: info.Base, Size: info.Size, Built: info.Built, Description: info.Description}
}

// Run removes them.
func (t *TemplateRemove) Run(a *App) error {
	store, err := openTemplates()
	if err != nil {
		return err
	}
	for _, name := range t.Names {
		err := store.Remove(name)
		var missing *template.NotFoundError
		if errors.As(err, &missing) {
			return fault.New(fault.CodeTemplateNotFound, "no template %q was built on this machine", name).Suggest("sandboxc template list shows those that were")
		}
		if err != nil {
			return err
		}
		a.Note("removed %s", name)
	}
	return nil
}
