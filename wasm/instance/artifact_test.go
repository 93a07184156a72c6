package instance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/wasm/host"
	"github.com/agent-sandbox/agent-sandbox/wasm/instance"
	"github.com/agent-sandbox/agent-sandbox/wasm/shell"
)

var artifact *instance.Artifact

func TestMain(m *testing.M) {
	code, err := withArtifact(m)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withArtifact(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "artifact-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, err := instance.Build("../..", dir)
	if err != nil {
		return 1, err
	}
	if artifact, err = instance.Load(path); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, artifact.Close()) }()
	return m.Run(), nil
}

// soak is whether all counts are full.
func soak() bool { return os.Getenv("SOAK") != "" }

// instanceOf makes a world in wazero.
func instanceOf(t *testing.T, seed uint64) (*world, *instance.Instance) {
	c, random := newClock(), &seeded{}
	m, err := artifact.Machine(instance.World{Rand: random, Now: func() time.Time { return c.now }})
	require.NoError(t, err)
	t.Cleanup(func() { _ = m.Close() })
	random.begin(seed)
	return newWorld(t, m, c, seed), m.(*instance.Instance)
}

// nativeOf makes the same world on the core as Go code.
func nativeOf(t *testing.T, seed uint64) *world {
	c, random := newClock(), &seeded{}
	random.begin(seed)
	m, err := host.Native(shell.Options{Rand: func(b []byte) { _, _ = random.Read(b) }, Now: func() time.Time { return c.now }})()
	require.NoError(t, err)
	return newWorld(t, m, c, seed)
}

// kinds of operations, and how one shows that its answer is its own.
var kinds = []struct {
	kind, method string
	params       func(token string) map[string]any
	right        func(o *op) bool
}{
	{"run", "commands.run", func(token string) map[string]any { return map[string]any{"command": token} }, saidItself},
	{"argv", "commands.run", func(token string) map[string]any { return map[string]any{"argv": []string{"echo", token}} }, saidItself},
	{"read", "files.read", func(token string) map[string]any { return map[string]any{"path": "/" + token} }, saidItself},
	{"stat", "files.get_info", func(token string) map[string]any { return map[string]any{"path": "/" + token} }, func(o *op) bool { return field(o, "name") == o.token }},
	{"write", "files.write", func(token string) map[string]any { return map[string]any{"path": "/" + token} }, func(o *op) bool { return field(o, "name") == o.token }},
	{"code", "sandbox.run_code", func(token string) map[string]any { return map[string]any{"code": token} }, ranItself},
	{"info", "sandbox.get_info", func(token string) map[string]any { return map[string]any{"sandbox_id": token} }, func(o *op) bool { return field(o, "sandbox_id") == o.token }},
}

func saidItself(o *op) bool { return o.out.String() == string(content(o.token)) }

func ranItself(o *op) bool {
	half := content(o.token)[:len(content(o.token))/2]
	text, _ := json.Marshal(string(half))
	return o.out.String() == string(half)+`{"text":`+string(text)+"}"
}

func field(o *op, name string) any {
	var all map[string]any
	_ = json.Unmarshal(o.result, &all)
	return all[name]
}

const interleaved = 100

// play runs a hundred operations at once to their ends.
func (w *world) play() {
	for i := range interleaved {
		k := kinds[w.dice.IntN(len(kinds))]
		o := &op{kind: k.kind, token: fmt.Sprintf("token-%d-%d", i, w.dice.IntN(1000))}
		w.call(o, k.method, k.params(o.token), []byte("attached"))
		if w.dice.IntN(3) == 0 {
			w.run()
		}
	}
	w.run()
	for w.step() {
	}
	for id, o := range w.ops {
		require.True(w, o.done, "operation %d (%s) is lost", id, o.kind)
	}
}

func (w *world) check() {
	for id, o := range w.ops {
		for _, k := range kinds {
			switch {
			case k.kind != o.kind:
			case o.result != nil:
				require.True(w, k.right(o), "operation %d (%s %s) got another's answer: %s %q", id, o.kind, o.token, o.result, o.out.String())
			case o.failure.Cancelled:
				require.True(w, o.cancelled, "operation %d was cancelled by nobody", id)
			default:
				require.True(w, w.trouble, "operation %d failed: %v", id, o.failure)
				require.Contains(w, []string{"E5000", "E3005"}, o.failure.Code, "%v", o.failure)
			}
		}
	}
}

func seeds() uint64 {
	if soak() {
		return 300
	}
	return 8
}

func TestInterleavedOperationsAreNeitherLostNorMixed(t *testing.T) {
	for _, trouble := range []bool{false, true} {
		for seed := range seeds() {
			w, _ := instanceOf(t, seed)
			w.trouble = trouble
			w.play()
			w.check()
		}
	}
}

// The same frames, random bytes and times give the same bytes: in two instances
// whose runtimes began with other random bytes, and in the core as Go code.
func TestTheSameFramesGiveTheSameBytes(t *testing.T) {
	for seed := range seeds() {
		first, _ := instanceOf(t, seed)
		second, _ := instanceOf(t, seed)
		third := nativeOf(t, seed)
		var said []string
		for _, w := range []*world{first, second, third} {
			w.trouble = true
			w.play()
			said = append(said, fmt.Sprintf("%d runs, %x", w.runs, w.said.Sum(nil)))
		}
		require.Equal(t, said[0], said[1], "seed %d: two instances", seed)
		require.Equal(t, said[0], said[2], "seed %d: an instance and Go", seed)
	}
}
