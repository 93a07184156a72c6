//go:build linux

package template_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// TestMain is also the first process of the sandboxes that the tests start.
func TestMain(m *testing.M) {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// bench is a state directory with its templates.
type bench struct {
	*testing.T
	state string
	store *template.Store
}

func newBench(t *testing.T) *bench {
	t.Helper()
	state := t.TempDir()
	store, err := template.Open(template.Dir(state))
	require.NoError(t, err)
	return &bench{t, state, store}
}

// log remembers what a build told.
type log struct {
	mu    sync.Mutex
	kinds []template.EventKind
	text  strings.Builder
}

func (l *log) add(e template.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == template.Output {
		l.text.Write(e.Text)
		return
	}
	l.kinds = append(l.kinds, e.Kind)
}

func (b *bench) build(r template.Recipe, o template.Options) (template.Info, *log, error) {
	b.Helper()
	l := &log{}
	o.StateDir, o.Events = b.state, l.add
	info, err := b.store.Build(b.Context(), r, o)
	var refused *isolation.RefusedError
	if errors.As(err, &refused) {
		b.Skip("this machine refuses sandboxes:", refused)
	}
	return info, l, err
}

// inside runs a script in a sandbox of a template and gives what it wrote.
func (b *bench) inside(name, script string) string {
	b.Helper()
	out, err := template.Try(b.Context(), b.store, b.state, name, script)
	require.NoError(b, err, out)
	return out
}

func run(title, script string) template.Step { return template.Step{Title: title, Run: script} }

func TestBuiltTemplateHoldsWhatItsStepsWrote(t *testing.T) {
	b := newBench(t)
	source := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.MkdirAll(filepath.Join(source, "sub"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(source, "sub", "a b.txt"), []byte("copied\n"), 0o640))
	require.NoError(t, os.Symlink("sub", filepath.Join(source, "link")))
	r := template.Recipe{
		Name: "mine", Env: map[string]string{"COLOUR": "blue"},
		Steps: []template.Step{
			run("first", "echo one > /usr/local/one; echo $COLOUR > /etc/colour; mkdir -p /opt/x; echo gone > /opt/x/gone; echo junk > /tmp/junk"),
			run("second", "cat /usr/local/one && echo two > /usr/local/two && rm /opt/x/gone && rm /usr/bin/yes"),
			{Files: []template.File{{Path: "/srv/data", Source: source}, {Path: "/home/user/.note", Content: []byte("hi\n"), Mode: 0o600}}, User: "user"},
		},
	}
	info, l, err := b.build(r, template.Options{})
	require.NoError(t, err, l.text.String())
	require.Len(t, info.Layers, 3)
	require.Equal(t, "one\n", l.text.String())

	out := b.inside("mine", `cat /usr/local/one /usr/local/two /etc/colour "/srv/data/link/a b.txt" /home/user/.note
echo $COLOUR; ls /opt/x | wc -l; ls /usr/bin/yes 2>&1 | grep -c 'No such'; ls /tmp | wc -l; stat -c '%U %a' /home/user/.note /srv/data/sub /usr/local/one
find /usr/etc -mindepth 1 2>/dev/null | wc -l; touch /home/user/written && echo ok; ls /run/build 2>/dev/null | wc -l`)
	owner := "root"
	if os.Geteuid() != 0 {
		owner = "user" // there is one id
	}
	require.Equal(t, "one\ntwo\nblue\ncopied\nhi\nblue\n0\n1\n0\nuser 600\nuser 755\n"+owner+" 644\n0\nok\n0\n", out)
	require.NotContains(t, b.inside("mine", "ls /home/user"), "written", "a sandbox writes to its own layer")
}

func TestTemplateStandsOnOneThatWasBuilt(t *testing.T) {
	b := newBench(t)
	lower := template.Recipe{Name: "lower", Env: map[string]string{"A": "low", "B": "low"}, Steps: []template.Step{run("", "echo one > /opt/one")}}
	_, _, err := b.build(lower, template.Options{})
	require.NoError(t, err)
	upper := template.Recipe{Name: "upper", Base: "lower", Env: map[string]string{"B": "up"}, Steps: []template.Step{run("", "cat /opt/one > /opt/two")}}
	info, _, err := b.build(upper, template.Options{})
	require.NoError(t, err)
	require.Len(t, info.Layers, 2)
	require.Equal(t, "base", info.Base)
	require.NoError(t, b.store.Remove("lower"))
	require.Equal(t, "one\none\nlow up\n", b.inside("upper", "cat /opt/one /opt/two; echo $A $B"))
	upper.Base = "lower"
	_, _, err = b.build(upper, template.Options{})
	var base *template.BaseError
	require.ErrorAs(t, err, &base)
}

func TestFailedBuildLeavesNothingButTheStepsThatWereDone(t *testing.T) {
	b := newBench(t)
	r := template.Recipe{Name: "broken", Steps: []template.Step{
		run("good", "echo fine > /opt/fine"),
		run("bad", "echo about to fail; sleep 300 & exit 3"),
	}}
	_, _, err := b.build(r, template.Options{})
	var step *template.StepError
	require.ErrorAs(t, err, &step)
	require.Equal(t, [3]int{2, 2, 3}, [3]int{step.Step, step.Of, step.Code})
	require.Contains(t, step.Tail, "about to fail")
	require.Empty(t, b.store.List())
	require.Equal(t, 1, b.layers(), "only the layer of the first step")
	require.Empty(t, boxes(t, b.state))

	r.Steps[1].Run = "cat /opt/fine"
	_, l, err := b.build(r, template.Options{})
	require.NoError(t, err)
	require.Equal(t, []template.EventKind{template.Cached, template.Started, template.Done}, l.kinds, "it goes on where it failed")
}

func TestCancelledBuildLeavesNothing(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := b.store.Build(ctx, template.Recipe{Name: "endless", Steps: []template.Step{run("", "echo up; sleep 300")}}, template.Options{
		StateDir: b.state, Events: func(e template.Event) {
			if e.Kind == template.Output {
				cancel()
			}
		},
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, b.layers())
	require.Empty(t, boxes(t, b.state))
}

func TestConcurrentBuildsOfOneStepDoItOnce(t *testing.T) {
	b := newBench(t)
	var done sync.WaitGroup
	logs := make([]*log, 4)
	for i := range logs {
		done.Go(func() {
			r := template.Recipe{Name: "same-" + string(rune('a'+i)), Steps: []template.Step{run("", "sleep 0.5; head -c 8 /dev/urandom | od -An -tx1 > /opt/dice")}}
			var err error
			_, logs[i], err = b.build(r, template.Options{})
			require.NoError(t, err)
		})
	}
	done.Wait()
	started := 0
	for _, l := range logs {
		for _, k := range l.kinds {
			if k == template.Started {
				started++
			}
		}
	}
	require.Equal(t, 1, started)
	require.Equal(t, 1, b.layers())
	require.Equal(t, b.inside("same-a", "cat /opt/dice"), b.inside("same-d", "cat /opt/dice"))
}

func TestRemovedTemplateGoesWithItsLastUse(t *testing.T) {
	b := newBench(t)
	_, _, err := b.build(template.Recipe{Name: "old", Steps: []template.Step{run("", "echo x > /opt/x")}}, template.Options{})
	require.NoError(t, err)
	release, err := b.store.Templates()[0].Hold()
	require.NoError(t, err)
	require.NoError(t, b.store.Remove("old"))
	require.Empty(t, b.store.Templates())
	require.Equal(t, 1, b.layers(), "somebody uses it")
	release()
	require.NoError(t, b.store.Sweep())
	require.Zero(t, b.layers())
	var missing *template.NotFoundError
	require.ErrorAs(t, b.store.Remove("old"), &missing)
}

// layers counts what lies in the store, works included.
func (b *bench) layers() int {
	b.Helper()
	entries, err := os.ReadDir(filepath.Join(template.Dir(b.state), "layers"))
	require.NoError(b, err)
	n := 0
	for _, e := range entries {
		if e.IsDir() {
			n++
		}
	}
	return n
}

// boxes lists what engines left in a state directory.
func boxes(t *testing.T, state string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(state, "boxes", "sandboxc-*"))
	require.NoError(t, err)
	return left
}
