//go:build linux

package local

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
	"github.com/agent-sandbox/agent-sandbox/local/pool"
	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// warmEngine makes boxes that can be made ready in advance.
type warmEngine struct {
	fakeEngine
	layers atomic.Value // of the template, []string
	// cold, if set, is why no box can be warmed.
	cold error

	mu    sync.Mutex
	boxes []*warmFake
}

func newWarm(t *testing.T, change ...func(*Options)) (*client, *warmEngine, *Server) {
	t.Helper()
	e := &warmEngine{}
	e.layers.Store([]string{"one"})
	return newWarmOf(t, e, change...)
}

func newWarmOf(t *testing.T, e *warmEngine, change ...func(*Options)) (*client, *warmEngine, *Server) {
	t.Helper()
	opt := Options{StateDir: t.TempDir(), Internet: true, APIKey: testKey}
	for _, change := range change {
		change(&opt)
	}
	require.NoError(t, opt.check())
	s, err := newServer(opt, e, nil)
	require.NoError(t, err)
	return serving(t, s), e, s
}

func (e *warmEngine) Templates() []isolation.Template {
	return append(e.fakeEngine.Templates(), isolation.Template{ID: template.CodeInterpreter, Layers: e.layers.Load().([]string)})
}

func (e *warmEngine) Start(ctx context.Context, spec isolation.Spec) (box, error) {
	b, err := e.fakeEngine.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	w := &warmFake{fakeBox: b.(*fakeBox), made: spec, cold: e.cold}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.boxes = append(e.boxes, w)
	return w, nil
}

// claimed finds the box of a sandbox.
func (e *warmEngine) claimed(t *testing.T, id string) *warmFake {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, b := range e.boxes {
		if b.made.ID == id {
			return b
		}
	}
	require.Fail(t, "no box of that id", id)
	return nil
}

// alive counts the boxes that were not ended.
func (e *warmEngine) alive() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, b := range e.boxes {
		select {
		case <-b.Done():
		default:
			n++
		}
	}
	return n
}

type warmFake struct {
	*fakeBox
	made isolation.Spec
	cold error

	mu      sync.Mutex
	claim   *isolation.Spec
	refuses error
}

func (b *warmFake) Warm(context.Context) error { return b.cold }

func (b *warmFake) Claims(spec isolation.Spec) bool { return spec.DiskMB == 0 }

func (b *warmFake) Claim(_ context.Context, spec isolation.Spec) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claim = &spec
	return b.refuses
}

func (b *warmFake) given() *isolation.Spec {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.claim
}

// full waits until the pool has all that it keeps.
func (c *client) full(size int) {
	c.t.Helper()
	require.Eventually(c.t, func() bool { return c.pool().Ready == size }, 20*time.Second, 5*time.Millisecond)
}

func (c *client) pool() pool.State {
	c.t.Helper()
	var state pool.State
	a := c.do("GET", "/interpreter-pool", "")
	require.Equal(c.t, http.StatusOK, a.status, a.body)
	require.NoError(c.t, json.Unmarshal([]byte(a.body), &state))
	return state
}

const orderInterpreter = `{"templateID":"code-interpreter-v1"`

func TestInterpreterPoolFillsOnceTheTemplateWasUsed(t *testing.T) {
	c, e, _ := newWarm(t)
	c.create(`{"templateID":"base"}`)
	require.Equal(t, pool.State{Size: DefaultInterpreterPool}, c.pool())
	first := c.create(orderInterpreter + `}`)
	require.Nil(t, e.claimed(t, first.SandboxID).given(), "the first one is made for its owner")
	c.full(DefaultInterpreterPool)
	second := c.create(orderInterpreter + `,"envVars":{"A":"b"},"cpuCount":1,"memoryMB":512,"metadata":{"k":"v"}}`)
	b := e.claimed(t, second.SandboxID)
	require.Equal(t, map[string]string{"A": "b"}, b.given().Envs)
	require.Equal(t, 512, b.given().MemoryMB)
	require.InDelta(t, 1, b.given().CPUs, 0)
	require.True(t, b.given().Internet)
	require.Equal(t, b.made.Token, second.EnvdAccessToken)
	require.Equal(t, second.SandboxID+" /x", c.do("GET", "/x", "", second.inside(49983)...).body)
	require.NotEqual(t, c.create(orderInterpreter+`}`).SandboxID, second.SandboxID)
	c.full(DefaultInterpreterPool)
}

func TestInterpreterPoolSetting(t *testing.T) {
	c, _, _ := newWarm(t, func(o *Options) { o.InterpreterPool = 3 })
	c.full(3)
	c, e, _ := newWarm(t, func(o *Options) { o.InterpreterPool = -1 })
	c.create(orderInterpreter + `}`)
	require.Equal(t, pool.State{}, c.pool())
	require.Equal(t, 1, e.alive())
}

func TestWhatAClaimCannotGiveIsMadeForItsOwner(t *testing.T) {
	c, e, _ := newWarm(t, func(o *Options) { o.InterpreterPool = 1 })
	c.full(1)
	for name, body := range map[string]string{
		"directories of the host": orderInterpreter + `,"hostMounts":[{"source":"/usr","target":"/mnt/x"}]}`,
		"another template":        `{"templateID":"base"}`,
		"another disk":            orderInterpreter + `,"diskSizeMB":512}`,
	} {
		t.Run(name, func(t *testing.T) {
			m := c.create(body)
			require.Nil(t, e.claimed(t, m.SandboxID).given())
			require.False(t, e.claimed(t, m.SandboxID).made.Background)
		})
	}
	c.full(1)
	a := c.do("POST", "/sandboxes", orderInterpreter+`,"secure":false}`)
	require.Equal(t, http.StatusCreated, a.status, a.body)
	var m made
	a.into(t, &m)
	require.Empty(t, m.EnvdAccessToken)
	require.Nil(t, e.claimed(t, m.SandboxID).given(), "one that waits has a token")
}

func TestClaimedSandboxHasTheNetworkThatWasAskedFor(t *testing.T) {
	c, e, s := newWarm(t, func(o *Options) { o.InterpreterPool = 1 })
	c.full(1)
	closed := c.create(orderInterpreter + `,"allow_internet_access":false}`)
	require.False(t, e.claimed(t, closed.SandboxID).given().Internet)
	require.Nil(t, s.members.get(closed.SandboxID).net.policy)
	require.Equal(t, http.StatusConflict, c.do("PUT", "/sandboxes/"+closed.SandboxID+"/network", `{"allowInternetAccess":true,"allow_internet_access":true}`).status)

	c.full(1)
	ruled := c.create(orderInterpreter + `,"network":{"denyOut":["9.9.9.9"]}}`)
	require.NotNil(t, e.claimed(t, ruled.SandboxID).given())
	rules := s.members.get(ruled.SandboxID).net.policy.Rules()
	require.Equal(t, []string{"9.9.9.9"}, rules.DenyOut)
	c.requireFault(c.do("POST", "/v2/sandboxes", orderInterpreter+`,"network":{"denyOut":["nowhere"]}}`), http.StatusBadRequest, "nowhere")
}

func TestOneThatWaitsReachesNothing(t *testing.T) {
	c, _, s := newWarm(t, func(o *Options) { o.InterpreterPool = 1 })
	c.full(1)
	r, ok := s.ready.Take()
	require.True(t, ok)
	defer s.dropReady(r)
	require.False(t, *r.net.policy.Rules().AllowInternet)
}

func TestOneThatCannotBeClaimedIsReplacedByANewOne(t *testing.T) {
	c, e, s := newWarm(t, func(o *Options) { o.InterpreterPool = 1 })
	c.full(1)
	e.mu.Lock()
	bad := e.boxes[0]
	e.mu.Unlock()
	bad.mu.Lock()
	bad.refuses = errors.New("gone")
	bad.mu.Unlock()
	m := c.create(orderInterpreter + `}`)
	require.NotEqual(t, bad.made.ID, m.SandboxID)
	<-bad.Done()
	require.NotNil(t, s.members.get(m.SandboxID).net.policy)
}

func TestThoseOfATemplateThatWasBuiltAgainGo(t *testing.T) {
	c, e, _ := newWarm(t, func(o *Options) { o.InterpreterPool = 1 })
	c.full(1)
	e.layers.Store([]string{"two"})
	m := c.create(orderInterpreter + `}`)
	require.Nil(t, e.claimed(t, m.SandboxID).given())
	c.full(1)
	again := c.create(orderInterpreter + `}`)
	require.NotNil(t, e.claimed(t, again.SandboxID).given())
}

func TestBoxesThatCannotBeWarmedLeaveNothing(t *testing.T) {
	e := &warmEngine{cold: errors.New("no kernel")}
	e.layers.Store([]string{"one"})
	c, _, s := newWarmOf(t, e, func(o *Options) { o.InterpreterPool = 1 })
	require.Eventually(t, func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.boxes) > 0
	}, 20*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { return e.alive() == 0 }, 20*time.Second, 5*time.Millisecond)
	require.Equal(t, 0, c.pool().Ready)
	c.create(orderInterpreter + `}`)
	require.NoError(t, s.Close())
}

func TestServerEndsWithThoseThatWait(t *testing.T) {
	c, e, s := newWarm(t, func(o *Options) { o.InterpreterPool = 2 })
	c.full(2)
	_, idle := s.Idle()
	require.True(t, idle, "those that wait keep no server up")
	require.NoError(t, s.Close())
	require.Zero(t, e.alive())
}

func TestPagesMayNotAskForThePool(t *testing.T) {
	c, _, s := newWarm(t)
	key, err := s.PageKey("https://page.example")
	require.NoError(t, err)
	a := c.do("GET", "/interpreter-pool", "", "X-API-Key", key, "Origin", "https://page.example")
	require.Equal(t, http.StatusForbidden, a.status)
}
