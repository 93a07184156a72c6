//go:build linux

package template

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/egress"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// Options say how to build. StateDir is required.
type Options struct {
	// StateDir is the server's: build sandboxes live where the others do.
	StateDir string
	// Binary is the first process of the sandboxes; "" is this program.
	Binary string
	// Getenv reads the environment whose pip, npm and proxy settings serve the
	// build; nil reads none.
	Getenv func(string) string
	// Environ is the same as os.Environ gives it.
	Environ []string
	// Fresh does every step again, even where its layer is there.
	Fresh bool
	// Events gets what happens, one call at a time; nil discards it.
	Events func(Event)
	// Log gets what no caller can be told; nil discards it.
	Log *slog.Logger
}

// EventKind is what an Event tells.
type EventKind string

// What happens in a build, to one step after the other.
const (
	// Started: the step runs now.
	Started EventKind = "started"
	// Waiting: another build does the same step; its layer will serve both.
	Waiting EventKind = "waiting"
	// Output: the step wrote Text.
	Output EventKind = "output"
	// Cached: the step was done before.
	Cached EventKind = "cached"
	// Done: the step has ended well.
	Done EventKind = "done"
)

// Event is one piece of progress.
type Event struct {
	Kind EventKind
	// Step counts from 1; Of is how many there are.
	Step, Of int
	// Title is the step's.
	Title string
	// Text is what the step wrote; any bytes.
	Text []byte
}

// StepError says which step failed and what it wrote last.
type StepError struct {
	Step, Of int
	Title    string
	// Code is its exit code; 0 when it did not come to an end.
	Code int
	// Tail is the end of its output.
	Tail string
	// Err is why, when Code is 0.
	Err error
}

func (e *StepError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("step %d of %d (%s): %v", e.Step, e.Of, e.Title, e.Err)
	}
	return fmt.Sprintf("step %d of %d (%s) ended with exit code %d", e.Step, e.Of, e.Title, e.Code)
}

func (e *StepError) Unwrap() error { return e.Err }

// BaseError says that this machine lacks the template that a recipe starts from.
type BaseError struct{ Base string }

func (e *BaseError) Error() string {
	program := map[string]string{"python-base": "python3", "node-base": "node"}[e.Base]
	if program == "" {
		return fmt.Sprintf("there is no base template %q on this machine, or it is outdated", e.Base)
	}
	return fmt.Sprintf("the base template %s needs %s in /usr/bin or /usr/local/bin", e.Base, program)
}

// Build makes a template. Steps whose layers are there already are not done
// again; a build that fails leaves the finished ones for the next, and nothing
// else. Errors are *InvalidError, *BaseError, *StepError, *PlaceError or the system's.
func (s *Store) Build(ctx context.Context, r Recipe, o Options) (Info, error) {
	if err := r.Check(); err != nil {
		return Info{}, err
	}
	if r.Base == "" {
		r.Base = "base"
	}
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	if o.Events == nil {
		o.Events = func(Event) {}
	}
	if err := checkPlace(s.dir); err != nil {
		return Info{}, err
	}
	if err := s.sweep(workPrefix); err != nil {
		return Info{}, err
	}
	b := &building{store: s, recipe: &r, opt: o}
	defer b.close()
	if err := b.begin(); err != nil {
		return Info{}, err
	}
	return b.run(ctx)
}

// begin takes over what the recipe's base has.
func (b *building) begin() error {
	r := b.recipe
	if base, ok := isolation.Base(r.Base); ok {
		b.base, b.ground = base, Ground(base)
		return nil
	}
	from, err := b.store.Get(r.Base)
	if err != nil || !b.store.Usable(from) {
		return &BaseError{r.Base}
	}
	if b.release, err = b.store.keep(from.Layers); err != nil {
		return fmt.Errorf("base template %s: %w", r.Base, err)
	}
	b.base, _ = isolation.Base(from.Base)
	b.ground, b.layers = from.Ground, slices.Clone(from.Layers)
	env := maps.Clone(from.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, r.Env)
	r.Env = env
	return nil
}

// building is one Build.
type building struct {
	store  *Store
	recipe *Recipe
	base   isolation.Template
	ground string
	opt    Options

	// engine and network are made for the first step that has to run.
	engine  *isolation.Engine
	network *egress.Host
	host    *settings
	// layers are the keys so far, topmost first, and held their locks.
	layers []string
	held   []*os.File
	// release lets the base's layers go; nil = it has none.
	release func()
}

func (b *building) close() {
	if b.release != nil {
		defer b.release()
	}
	if b.engine != nil {
		if err := b.engine.Close(); err != nil && b.opt.Log != nil {
			b.opt.Log.Warn("the sandboxes of a build did not end cleanly", "error", err)
		}
	}
	for _, f := range b.held {
		_ = f.Close()
	}
}

func (b *building) run(ctx context.Context) (Info, error) {
	for i := range b.recipe.Steps {
		if err := b.step(ctx, i); err != nil {
			return Info{}, err
		}
	}
	r := b.recipe
	info := Info{
		Name: r.Name, Description: r.Description, Base: b.base.ID, Env: r.Env, Layers: b.layers,
		Built: time.Now().UTC().Truncate(time.Second), Ground: b.ground,
	}
	for _, key := range b.layers {
		info.Size += isolation.LayerSize(b.store.layer(key))
	}
	if err := b.store.put(info); err != nil {
		return Info{}, err
	}
	return info, b.store.Sweep()
}

func (b *building) tell(kind EventKind, i int, text []byte) {
	b.opt.Events(Event{Kind: kind, Step: i + 1, Of: len(b.recipe.Steps), Title: b.recipe.Steps[i].title(), Text: text})
}

// step makes sure that there is the layer of a step, and holds it.
func (b *building) step(ctx context.Context, i int) error {
	w, err := b.openWork()
	if err != nil {
		return err
	}
	defer w.remove()
	step := &b.recipe.Steps[i]
	content, err := gather(step.Files, w.files)
	if err != nil {
		return b.failed(i, err)
	}
	parent := b.ground
	if len(b.layers) > 0 {
		parent = b.layers[0]
	}
	key, err := layerKey(parent, b.recipe.Env, step, content)
	if err != nil {
		return err
	}
	if b.opt.Fresh {
		key = freshKey(key)
	}
	hold, err := lock(ctx, b.store.hold(key), unix.LOCK_SH, nil)
	if err != nil {
		return err
	}
	b.held = append(b.held, hold)
	if err := b.make(ctx, i, key, w); err != nil {
		return err
	}
	b.layers = slices.Insert(b.layers, 0, key)
	return nil
}

// freshKey is a key that no layer has.
func freshKey(key string) string {
	var r [4]byte
	_, _ = rand.Read(r[:])
	return key + "-" + hex.EncodeToString(r[:])
}

// make makes the layer unless it is there, or somebody else is making it.
func (b *building) make(ctx context.Context, i int, key string, w *work) error {
	if isDir(b.store.layer(key)) {
		b.tell(Cached, i, nil)
		return nil
	}
	alone, err := lock(ctx, b.store.making(key), unix.LOCK_EX, func() { b.tell(Waiting, i, nil) })
	if err != nil {
		return err
	}
	defer func() {
		_ = os.Remove(b.store.making(key))
		_ = alone.Close()
	}()
	if isDir(b.store.layer(key)) {
		b.tell(Cached, i, nil)
		return nil
	}
	b.tell(Started, i, nil)
	if err := b.do(ctx, i, w); err != nil {
		return err
	}
	if err := os.Rename(w.layer, b.store.layer(key)); err != nil {
		return err
	}
	b.tell(Done, i, nil)
	return nil
}

// failed says which step it was.
func (b *building) failed(i int, err error) error {
	return &StepError{Step: i + 1, Of: len(b.recipe.Steps), Title: b.recipe.Steps[i].title(), Err: err}
}

// do runs a step in a sandbox. When it returns, the sandbox has ended and what it
// wrote lies in w.layer.
func (b *building) do(ctx context.Context, i int, w *work) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.host.write(w.shown); err != nil {
		return err
	}
	id, token := "build-"+filepath.Base(w.dir), rand.Text()
	policy, err := b.network.Open(w.socket(), egress.Rules{})
	if err != nil {
		return err
	}
	defer func() { _ = policy.Close() }()
	box, err := b.engine.Start(ctx, isolation.Spec{
		ID: id, Template: stepTemplate, Token: token, Internet: true, Egress: filepath.Join(w.dir, socketName),
		Trust: isolation.TrustBundle(b.host.bundles...), Layer: w.layer, Mounts: b.mounts(w),
		CPUs: float64(runtime.NumCPU()), MemoryMB: memoryMB, DiskMB: diskMB, Pids: pids,
	})
	if err != nil {
		return b.failed(i, err)
	}
	err = b.runStep(ctx, i, box, token)
	return errors.Join(err, box.Kill())
}

// Limits of the sandbox of a step.
const (
	memoryMB = 4096
	diskMB   = 16384
	pids     = 4096
)

// stepTemplate is the name of what a step starts from, in the build's own engine.
const stepTemplate = "build-step"

// parent is what the next step starts from.
func (b *building) parent() []isolation.Template {
	t := isolation.Template{ID: stepTemplate, Names: b.base.Names, Env: b.recipe.Env}
	for _, key := range b.layers {
		t.Layers = append(t.Layers, b.store.layer(key))
	}
	return []isolation.Template{t}
}

// prepare makes what steps need.
func (b *building) prepare(ctx context.Context) (err error) {
	if b.engine != nil {
		return nil
	}
	b.host = hostSettings(b.opt.Getenv)
	b.network = b.host.network(b.opt.Environ, b.opt.Log)
	b.engine, err = isolation.Open(ctx, isolation.Config{
		StateDir: filepath.Join(b.opt.StateDir, "boxes"), Binary: b.opt.Binary, Pool: -1, Built: b.parent, Log: b.opt.Log,
	})
	return err
}

func (b *building) mounts(w *work) []isolation.Mount {
	list := []isolation.Mount{{Source: w.shown, Target: shownDir}}
	for n, dir := range b.host.links {
		list = append(list, isolation.Mount{Source: dir, Target: linksDir + "/" + strconv.Itoa(n)})
	}
	return list
}

func (b *building) runStep(ctx context.Context, i int, box *isolation.Box, token string) error {
	step, tail := &b.recipe.Steps[i], &tail{}
	j := &job{box: box, token: token, user: step.user(), env: b.host.environment(), output: func(text []byte) {
		tail.add(text)
		b.tell(Output, i, text)
	}}
	commands := [][]string{{"/bin/bash", "-l", "-c", step.Run}}
	if step.Run == "" {
		commands, j.user = placing(step, b.engine.Mode()), "root"
	}
	for _, j.argv = range commands {
		code, err := j.run(ctx)
		if err == nil && code == 0 {
			continue
		}
		return &StepError{Step: i + 1, Of: len(b.recipe.Steps), Title: step.title(), Code: code, Tail: tail.text(), Err: err}
	}
	return nil
}

// placing are the commands that put a step's files into the template.
func placing(s *Step, mode isolation.Mode) [][]string {
	const script = `set -e
mkdir -p -- "$(dirname -- "$2")"
if [ -d "$1" ] && [ ! -L "$1" ]; then mkdir -p -- "$2"; cp -RP --preserve=mode -- "$1/." "$2/"; else cp -RP --preserve=mode -- "$1" "$2"; fi
if [ -n "$3" ]; then chown -hR -- "$3:$3" "$2"; fi`
	owner := s.user()
	if mode == isolation.Ordinary {
		owner = "" // there is one id
	}
	var list [][]string
	for i, f := range s.Files {
		list = append(list, []string{"/bin/sh", "-c", script, "sh", shownDir + "/files/" + strconv.Itoa(i), filepath.Clean(f.Path), owner})
	}
	return list
}

// work is where one step is made. Its lock tells it from what a killed build left.
type work struct {
	dir   string
	store *Store
	alone *os.File
	open  *os.File
	// shown is seen inside, files lies in it, and layer takes what is written.
	shown, files, layer string
}

// workPrefix begins the names of works.
const workPrefix = "new-"

func (b *building) openWork() (*work, error) {
	var r [8]byte
	_, _ = rand.Read(r[:])
	key := workPrefix + hex.EncodeToString(r[:])
	// The lock exists before the directory: a half-made one is never swept.
	alone, err := tryLock(b.store.hold(key), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	dir := b.store.layer(key)
	w := &work{dir: dir, store: b.store, alone: alone, shown: filepath.Join(dir, "shown"), layer: filepath.Join(dir, "layer")}
	w.files = filepath.Join(w.shown, "files")
	for _, d := range []string{w.dir, w.shown, w.files, w.layer} {
		if err := os.Mkdir(d, 0o700); err != nil {
			w.remove()
			return nil, err
		}
	}
	if w.open, err = os.Open(dir); err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

func (w *work) remove() {
	if w.open != nil {
		_ = w.open.Close()
	}
	_ = isolation.RemoveLayer(w.dir)
	_ = os.Remove(w.store.hold(filepath.Base(w.dir)))
	_ = w.alone.Close()
}

// socketName is the host side of the network, in the work's directory.
const socketName = "net"

// maxSocketPath is the longest name that a unix socket can have.
const maxSocketPath = 107

// socket is a name of the socket that is short enough to listen on, in this
// process.
func (w *work) socket() string {
	if path := filepath.Join(w.dir, socketName); len(path) <= maxSocketPath {
		return path
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", w.open.Fd(), socketName)
}

// tail keeps the end of a step's output.
type tail struct{ kept []byte }

const (
	tailSize  = 8 << 10
	tailLines = 30
)

func (t *tail) add(text []byte) {
	t.kept = append(t.kept, text...)
	if over := len(t.kept) - tailSize; over > 0 {
		t.kept = slices.Clone(t.kept[over:])
	}
}

func (t *tail) text() string {
	lines := strings.Split(strings.TrimRight(strings.ToValidUTF8(string(t.kept), "\uFFFD"), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
