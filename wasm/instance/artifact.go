// Package instance runs core.wasm in wazero, for the tests of the artifact.
package instance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// Artifact is a compiled core.wasm. Close it when done.
type Artifact struct {
	Bytes   []byte
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// maxPages bounds the linear memory of an instance: 256 MiB.
const maxPages = 4096

// Load compiles the artifact at path. What the compiler made is kept in the
// user's cache directory: compiling takes seconds.
func Load(path string) (*Artifact, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(maxPages)
	if dir, err := os.UserCacheDir(); err == nil {
		cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, "agent-sandbox", "wazero"))
		if err == nil {
			config = config.WithCompilationCache(cache)
		}
	}
	ctx := context.Background()
	a := &Artifact{Bytes: b, runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, a.runtime); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if a.module, err = a.runtime.CompileModule(ctx, b); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Close ends every instance of the artifact.
func (a *Artifact) Close() error { return a.runtime.Close(context.Background()) }

// Imports are the names of what the artifact needs, "module.name", in order.
func (a *Artifact) Imports() []string {
	var all []string
	for _, f := range a.module.ImportedFunctions() {
		module, name, _ := f.Import()
		all = append(all, module+"."+name)
	}
	for range a.module.ImportedMemories() {
		all = append(all, "memory")
	}
	return all
}

// Exports are the types of what the artifact offers, by name.
func (a *Artifact) Exports() map[string]string {
	all := map[string]string{}
	for name, f := range a.module.ExportedFunctions() {
		all[name] = fmt.Sprintf("%d -> %d", len(f.ParamTypes()), len(f.ResultTypes()))
	}
	for name := range a.module.ExportedMemories() {
		all[name] = "memory"
	}
	return all
}

// World is what an instance sees besides frames. The zero value is the real one.
type World struct {
	Rand   io.Reader        // random bytes
	Now    func() time.Time // both clocks
	Stderr io.Writer        // what a dying instance says; nil drops it
}

// Machine makes an instance.
func (a *Artifact) Machine(w World) (host.Machine, error) {
	if w.Rand == nil {
		w.Rand = rand.Reader
	}
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithRandSource(w.Rand)
	if w.Stderr != nil {
		config = config.WithStderr(w.Stderr)
	}
	if w.Now == nil {
		config = config.WithSysWalltime().WithSysNanotime()
	} else {
		wall := func() (int64, int32) { t := w.Now(); return t.Unix(), int32(t.Nanosecond()) } //nolint:gosec // below 1e9
		config = config.WithWalltime(wall, 1).WithNanotime(func() int64 { return w.Now().UnixNano() }, 1)
	}
	module, err := a.runtime.InstantiateModule(context.Background(), a.module, config)
	if err != nil {
		return nil, err
	}
	return newInstance(module)
}
