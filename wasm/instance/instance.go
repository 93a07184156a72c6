package instance

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"

	"github.com/agent-sandbox/agent-sandbox/wasm/frame"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
)

// Instance is one instance of the core: a host.Machine.
type Instance struct {
	module api.Module
	inBuf  api.Function
	run    api.Function
	stack  [1]uint64
}

var errMemory = errors.New("the core gave an address outside its memory")

func newInstance(m api.Module) (*Instance, error) {
	i := &Instance{module: m, inBuf: m.ExportedFunction("in_buf"), run: m.ExportedFunction("run")}
	version := m.ExportedFunction("abi_version")
	if version == nil || i.inBuf == nil || i.run == nil {
		return nil, errors.Join(errors.New("this is not the core"), i.Close())
	}
	got, err := version.Call(context.Background())
	if err == nil && got[0] != frame.Version {
		err = fmt.Errorf("the core speaks version %d of the ABI, not %d", got[0], frame.Version)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// Run writes the input into the core's buffer and runs it.
func (i *Instance) Run(in []byte) ([]byte, error) {
	at, err := i.call(i.inBuf, len(in))
	if err != nil {
		return nil, err
	}
	if !i.module.Memory().Write(at, in) {
		return nil, errMemory
	}
	if at, err = i.call(i.run, len(in)); err != nil {
		return nil, err
	}
	total, ok := i.module.Memory().ReadUint32Le(at)
	if !ok {
		return nil, errMemory
	}
	out, ok := i.module.Memory().Read(at, total+4)
	if !ok {
		return nil, errMemory
	}
	return host.Frames(out)
}

func (i *Instance) call(f api.Function, n int) (uint32, error) {
	i.stack[0] = uint64(n) //nolint:gosec // a length
	err := f.CallWithStack(context.Background(), i.stack[:])
	return uint32(i.stack[0]), err //nolint:gosec // an address of 32 bits
}

// MemorySize is the size of the linear memory in bytes.
func (i *Instance) MemorySize() int { return int(i.module.Memory().Size()) }

// Close frees the memory.
func (i *Instance) Close() error { return i.module.Close(context.Background()) }
