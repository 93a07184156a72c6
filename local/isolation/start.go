//go:build linux

package isolation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// bootTimeout bounds the start of one sandbox on a busy machine.
const bootTimeout = 30 * time.Second

// Start makes a sandbox and returns when it answers HTTP. On an error nothing
// of it is left. A machine that forbids namespaces gives a *RefusedError.
func (e *Engine) Start(ctx context.Context, spec Spec) (*Box, error) {
	spec = spec.withDefaults()
	if err := spec.validate(); err != nil {
		return nil, fmt.Errorf("isolation: %w", err)
	}
	t, err := e.template(spec.Template)
	if err != nil {
		return nil, err
	}
	if err := e.claim(spec.ID); err != nil {
		return nil, err
	}
	release, err := t.hold()
	if err != nil {
		e.release(spec.ID)
		return nil, fmt.Errorf("isolation: template %s: %w", t.ID, err)
	}
	s := &starting{engine: e, spec: spec, template: t}
	b, err := s.run(ctx)
	if err != nil {
		release()
		e.release(spec.ID)
		return nil, fmt.Errorf("isolation: start: %w", err)
	}
	go func() {
		<-b.done
		release()
	}()
	return b, nil
}

// starting is the state of one Start.
type starting struct {
	engine   *Engine
	spec     Spec
	template Template
	box      *Box
	config   *boot.Config
	files    []*os.File
	waited   bool // the process waited in the pool
	staged   bool // its root stands
	fresh    bool // it must not
}

// run makes the sandbox of a process that waited, or once more of a new one when
// that had ended meanwhile, as the OOM killer may have it.
func (s *starting) run(ctx context.Context) (*Box, error) {
	b, err := s.attempt(ctx)
	if s.waited && err != nil && ctx.Err() == nil && !errors.Is(err, ErrClosed) {
		s.fresh = true
		return s.attempt(ctx)
	}
	return b, err
}

func (s *starting) attempt(ctx context.Context) (*Box, error) {
	defer func() { closeFiles(s.files); s.files = nil }()
	if err := s.reserve(ctx); err != nil {
		return nil, err
	}
	if err := s.engine.add(s.box); err != nil {
		_ = s.box.cmd.Process.Kill()
		s.box.watch()
		return nil, err
	}
	go s.box.watch()
	go s.box.watchDisk()
	if err := s.hand(ctx); err != nil {
		_ = s.box.Kill()
		return nil, err
	}
	return s.box, nil
}

// reserve takes what the sandbox needs before it is one: from the pool, or made now.
func (s *starting) reserve(ctx context.Context) error {
	x, err := s.seed(ctx)
	if err != nil {
		return err
	}
	s.staged = x.hidden != nil
	if s.waited = x.started(); !s.waited {
		if err := x.start(s.engine, s.spec); err != nil {
			return errors.Join(err, x.free())
		}
	}
	s.box = &Box{
		id: s.spec.ID, engine: s.engine, done: make(chan struct{}), plot: x.plot,
		memory: int64(s.spec.MemoryMB) * mebibyte, cage: x.cage, cmd: x.cmd, control: x.control, env: s.template.Env,
	}
	if s.spec.Background {
		x.cage.weigh(backgroundWeight)
	}
	s.box.limits = append(append([]Limit{}, x.cage.limits...), x.plot.limit)
	return nil
}

func (s *starting) seed(ctx context.Context) (*seed, error) {
	if s.fresh {
		return s.engine.plots.bare(int64(s.spec.DiskMB) * mebibyte)
	}
	return s.engine.plots.take(ctx, s.spec, s.template)
}

// hand gives the process its boot message and waits for its answer.
func (s *starting) hand(ctx context.Context) error {
	if err := s.configure(); err != nil {
		return err
	}
	doc, err := boot.Document(s.config)
	if err != nil {
		return err
	}
	s.files = append([]*os.File{doc}, s.files...)
	if err := s.box.post(ctx, boot.Message{Op: boot.OpBoot}, s.files...); err != nil {
		return errors.Join(errEndedEarly, err)
	}
	return s.answer(ctx)
}

var errEndedEarly = errors.New("process 1 ended before it answered")

func (s *starting) answer(ctx context.Context) error {
	c := s.box.control
	_ = c.SetReadDeadline(time.Now().Add(bootTimeout))
	stop := context.AfterFunc(ctx, func() { _ = c.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	m, files, err := boot.Receive(c)
	closeFiles(files)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v: %w", bootTimeout, err)
	case err != nil:
		return errEndedEarly
	case m.Op == boot.OpFailed:
		return bootError(m, s.engine.mode)
	}
	return nil
}

// BootError says at which step process 1 failed.
type BootError struct {
	Step, Message string
	Errno         syscall.Errno
}

func (e *BootError) Error() string { return "boot, " + e.Step + ": " + e.Message }

func (e *BootError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

func bootError(m boot.Message, mode Mode) error {
	err := &BootError{Step: m.Step, Message: m.Error, Errno: syscall.Errno(m.Errno)}
	// AppArmor lets the clone pass and refuses the first mount instead.
	if err.Step == "hostname" || err.Step == "mounts" {
		if r := new(RefusedError); errors.As(refusal(err, mode), &r) && r.Setting != settingPolicy {
			return r
		}
	}
	return err
}

// configure makes the boot message and opens what only the host side may.
func (s *starting) configure() error {
	e := s.engine
	filter, err := e.filterFor(s.spec)
	if err != nil {
		return err
	}
	s.config = &boot.Config{
		SandboxID: s.spec.ID, TemplateID: s.template.ID, Token: s.spec.Token, Envs: s.envs(),
		Hostname: hostname(s.spec.ID), Ordinary: e.mode == Ordinary, Internet: s.spec.Internet,
		CA: CAPath, Filter: filter, CPUs: s.spec.CPUs, MemoryBytes: s.box.memory,
	}
	if !s.staged {
		if err := s.configureRoot(); err != nil {
			return err
		}
	}
	s.config.Rlimits = s.rlimits()
	for _, m := range s.spec.Mounts {
		s.config.Mounts = append(s.config.Mounts, boot.Mount{Source: m.Source, Target: path.Clean(m.Target), Write: m.Write})
	}
	if s.spec.Trust != nil {
		f, err := boot.Blob(s.spec.Trust)
		if err != nil {
			return err
		}
		s.add(boot.FDTrust, f)
	}
	if f := s.box.cage.memoryEvents(); f != nil {
		s.add(boot.FDMemoryEvents, f)
	}
	if e.mode == Ordinary {
		s.config.Binary, s.config.Egress = e.path, s.spec.Egress
		return nil
	}
	return s.openTrees()
}

// configureRoot adds what the root is made of, as far as it is alike in all
// sandboxes of the template.
func (s *starting) configureRoot() error {
	skeleton, err := s.engine.skeleton.dir()
	if err != nil {
		return err
	}
	c := s.config
	c.Layers, c.Hidden, c.Removed = layers(skeleton, s.engine.mode), s.template.hidden(), removed()
	c.Under, c.SharedBytes = s.template.Layers, s.box.memory/2
	if s.engine.mode == Ordinary {
		c.Disk = s.box.plot.disk.dir
		return nil
	}
	return s.openLayers()
}

// stage lets the process of a seed make that part of its root while it waits.
// An ordinary user's process opens the host's directories itself, and must
// know them all before it hides the first.
func (e *Engine) stage(x *seed, spec Spec) error {
	if e.mode == Ordinary {
		return boot.Send(x.control, boot.Message{Op: boot.OpStage})
	}
	t, err := e.template(spec.Template)
	if err != nil {
		return err
	}
	s := &starting{engine: e, spec: spec, template: t, box: &Box{plot: x.plot, cmd: x.cmd, memory: int64(spec.MemoryMB) * mebibyte}}
	defer func() { closeFiles(s.files) }()
	s.config = &boot.Config{}
	if err := s.configureRoot(); err != nil {
		return err
	}
	doc, err := boot.Document(s.config)
	if err != nil {
		return err
	}
	s.files = append([]*os.File{doc}, s.files...)
	x.hidden = t.hidden()
	return boot.Send(x.control, boot.Message{Op: boot.OpStage}, s.files...)
}

// envs are the template's variables and over them the sandbox's own.
func (s *starting) envs() map[string]string {
	if len(s.template.Env) == 0 {
		return s.spec.Envs
	}
	all := maps.Clone(s.template.Env)
	maps.Copy(all, s.spec.Envs)
	return all
}

func hostname(id string) string {
	if len(id) > 32 {
		id = id[:32]
	}
	return id
}

func (s *starting) add(name string, f *os.File) {
	s.files = append(s.files, f)
	s.config.FDs = append(s.config.FDs, name)
}

// layers are the root, /usr and, as root, the package manager's state.
func layers(skeleton string, mode Mode) []boot.Layer {
	list := []boot.Layer{{Target: "/", Lower: skeleton}}
	for _, n := range rootPrograms() {
		if fi, err := os.Lstat("/" + n); err == nil && fi.IsDir() {
			list = append(list, boot.Layer{Target: "/" + n, Lower: "/" + n})
		}
	}
	list = append(list, boot.Layer{Target: "/usr", Lower: "/usr"})
	if mode == Root {
		for _, d := range packageState() {
			list = append(list, boot.Layer{Target: d, Lower: d})
		}
	}
	return list
}

func (s *starting) openUserNamespace() (*os.File, error) {
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", s.box.cmd.Process.Pid))
}

// openLayers opens the host's directories that lie below, with their owners
// mapped, and the disk.
func (s *starting) openLayers() error {
	userns, err := s.openUserNamespace()
	if err != nil {
		return err
	}
	defer userns.Close()
	for _, l := range s.config.Layers {
		tree, _, err := mappedTree(l.Lower, userns)
		if err != nil {
			return err
		}
		s.add(boot.FDLower+l.Target, tree)
	}
	for i, dir := range s.config.Under {
		if err := s.openPath(boot.FDUnder+strconv.Itoa(i), dir, userns); err != nil {
			return err
		}
	}
	return s.openDisk()
}

// openTrees opens what is this sandbox's alone, with its owners mapped.
func (s *starting) openTrees() error {
	userns, err := s.openUserNamespace()
	if err != nil {
		return err
	}
	defer userns.Close()
	if err := s.openPath(boot.FDBinary, s.engine.path, userns); err != nil {
		return err
	}
	if s.spec.Egress != "" {
		if err := s.openPath(boot.FDEgress, s.spec.Egress, userns); err != nil {
			return err
		}
	}
	return s.openMounts()
}

func (s *starting) openPath(name, path string, userns *os.File) error {
	tree, _, err := mappedTree(path, userns)
	if err != nil {
		return err
	}
	s.add(name, tree)
	return nil
}

func (s *starting) openDisk() error {
	tree, err := s.box.plot.disk.handle()
	if err != nil {
		return err
	}
	s.add(boot.FDDisk, tree)
	return nil
}

func (s *starting) openMounts() error {
	for i, m := range s.spec.Mounts {
		tree, err := ownedTree(m.Source, s.box.plot.ids.base+userID)
		if err != nil {
			return err
		}
		s.add(boot.FDMount+strconv.Itoa(i), tree)
	}
	return nil
}
