//go:build linux

package template

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// Store is a directory of templates. Several programs may use one at once.
type Store struct {
	dir string

	mu    sync.Mutex
	known []isolation.Template
	// stamp is the age of the directory when known was made of it, at when.
	stamp, when time.Time
}

// Dir is where a server with this state directory keeps its templates.
func Dir(stateDir string) string { return filepath.Join(stateDir, "templates") }

// Open uses the templates of a directory, which is made 0700 if missing.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	for _, d := range []string{dir, s.names(), s.layers()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Store) names() string            { return filepath.Join(s.dir, "names") }
func (s *Store) layers() string           { return filepath.Join(s.dir, "layers") }
func (s *Store) layer(key string) string  { return filepath.Join(s.layers(), key) }
func (s *Store) name(name string) string  { return filepath.Join(s.names(), name+nameSuffix) }
func (s *Store) hold(key string) string   { return s.layer(key) + lockSuffix }
func (s *Store) making(key string) string { return s.layer(key) + makingSuffix }

const (
	nameSuffix   = ".json"
	lockSuffix   = ".lock"
	makingSuffix = ".making"
)

// Info is a template that was built.
type Info struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Base is the template that needs no build on which it stands.
	Base string            `json:"base"`
	Env  map[string]string `json:"env,omitempty"`
	// Layers are the keys of its layers, topmost first.
	Layers []string `json:"layers"`
	// Built is when.
	Built time.Time `json:"built"`
	// Size of its layers, in bytes.
	Size int64 `json:"size"`
	// Ground is what it was built on, see Ground.
	Ground string `json:"ground"`
}

// List gives the templates that were built, by name. What cannot be read is left
// out.
func (s *Store) List() []Info {
	entries, err := os.ReadDir(s.names())
	if err != nil {
		return nil
	}
	var list []Info
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), nameSuffix); ok && ValidName(name) {
			if info, err := s.Get(name); err == nil {
				list = append(list, info)
			}
		}
	}
	return list
}

// NotFoundError says that no template of that name was built.
type NotFoundError struct{ Name string }

func (e *NotFoundError) Error() string { return fmt.Sprintf("there is no template %q", e.Name) }

// Get gives one template. The error is a *NotFoundError when it was not built.
func (s *Store) Get(name string) (Info, error) {
	var info Info
	if !ValidName(name) {
		return info, &NotFoundError{name}
	}
	b, err := os.ReadFile(s.name(name))
	if errors.Is(err, fs.ErrNotExist) {
		return info, &NotFoundError{name}
	}
	if err == nil {
		err = json.Unmarshal(b, &info)
	}
	if err != nil {
		return Info{}, fmt.Errorf("template %s: %w", name, err)
	}
	info.Name = name
	return info, nil
}

// knownFor is how long a list is used again where no template came or went: this
// machine's Python may have changed.
const knownFor = time.Second

// Templates are those that sandboxes can be made from now, for isolation.Config.
// It is asked at every start of a sandbox.
func (s *Store) Templates() []isolation.Template {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	dir, err := os.Stat(s.names())
	if err != nil {
		return nil
	}
	if dir.ModTime().Equal(s.stamp) && now.Sub(s.when) < knownFor {
		return slices.Clone(s.known)
	}
	s.known, s.stamp, s.when = nil, dir.ModTime(), now
	for _, info := range s.List() {
		if t, ok := s.usable(info); ok {
			s.known = append(s.known, t)
		}
	}
	return slices.Clone(s.known)
}

// Usable tells whether sandboxes can be made from a template; if not, this
// machine has changed under it and it has to be built again.
func (s *Store) Usable(info Info) bool {
	_, ok := s.usable(info)
	return ok
}

// usable makes what the isolation layer needs of a template; not ok when this
// machine has changed so much that it would not work.
func (s *Store) usable(info Info) (isolation.Template, bool) {
	base, ok := isolation.Base(info.Base)
	if !ok || info.Ground != Ground(base) {
		return isolation.Template{}, false
	}
	t := isolation.Template{
		ID: info.Name, Description: info.Description, Names: base.Names, Env: info.Env, Built: info.Built,
		Hold: func() (func(), error) { return s.keep(info.Layers) },
	}
	for _, key := range info.Layers {
		t.Layers = append(t.Layers, s.layer(key))
	}
	return t, true
}

// keepLimit bounds the wait for a sweep, which looks at each layer alone.
const keepLimit = 10 * time.Second

// keep holds layers that exist until release: nobody removes them.
func (s *Store) keep(keys []string) (release func(), err error) {
	var held []*os.File
	release = func() {
		for _, f := range held {
			_ = f.Close()
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), keepLimit)
	defer cancel()
	for _, key := range keys {
		f, err := lock(ctx, s.hold(key), unix.LOCK_SH, nil)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, f)
		if !isDir(s.layer(key)) {
			release()
			return nil, errors.New("it was removed; build it again")
		}
	}
	return release, nil
}

// put makes a template known, or known anew.
func (s *Store) put(info Info) error {
	b, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(s.names(), "new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.name(info.Name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Remove forgets a template. Its layers go when nobody uses them any more. The
// error is a *NotFoundError when there is none of the name.
func (s *Store) Remove(name string) error {
	if !ValidName(name) {
		return &NotFoundError{name}
	}
	err := os.Remove(s.name(name))
	if errors.Is(err, fs.ErrNotExist) {
		return &NotFoundError{name}
	}
	return errors.Join(err, s.Sweep())
}

// Sweep removes the layers that no template has and nobody uses, and what builds
// left that were killed.
func (s *Store) Sweep() error { return s.sweep("") }

// sweep removes what begins with a prefix and nobody wants.
func (s *Store) sweep(prefix string) error {
	entries, err := os.ReadDir(s.layers())
	if err != nil {
		return err
	}
	var keys []string
	for _, e := range entries {
		key := strings.TrimSuffix(strings.TrimSuffix(e.Name(), makingSuffix), lockSuffix)
		if strings.HasPrefix(key, prefix) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	var errs []error
	for _, key := range keys {
		errs = append(errs, s.sweepLayer(key))
	}
	return errors.Join(errs...)
}

func (s *Store) sweepLayer(key string) error {
	if s.has(key) {
		return nil
	}
	alone, err := tryLock(s.hold(key), unix.LOCK_EX)
	if errors.Is(err, errHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer alone.Close()
	// Whoever builds with a layer holds it until the name is written.
	if s.has(key) {
		return nil
	}
	err = isolation.RemoveLayer(s.layer(key))
	if err == nil {
		_ = os.Remove(s.making(key))
		err = os.Remove(s.hold(key))
	}
	return err
}

// has tells whether a template has the layer.
func (s *Store) has(key string) bool {
	return slices.ContainsFunc(s.List(), func(info Info) bool { return slices.Contains(info.Layers, key) })
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
