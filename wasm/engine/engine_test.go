package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

var errCaller = errors.New("the caller has had enough")

func TestAnOperationIsAnswered(t *testing.T) {
	f := newFake(t)
	f.call(1, getting("a"))
	f.answer(f.only(), "hello")
	require.Equal(t, "hello", f.results[1].Value)
	require.NoError(t, f.results[1].Err)
	f.nothingLeft()
}

func TestTheIdleClockEndsAnOperation(t *testing.T) {
	f := newFake(t)
	f.call(1, getting("a"))
	for k := range f.timers {
		f.fire(k)
	}
	require.Equal(t, transport.Timeout{Clock: transport.ClockIdle, After: time.Second}, f.results[1].Err)
	require.Equal(t, 1, f.aborts)
	f.nothingLeft()
}

// mintAndFan mints a token that all operations share and makes n requests with it.
func mintAndFan(minted *int, n int) Func {
	return func(ctx context.Context, h transport.Host) (any, error) {
		token, err := h.Flight(ctx, "mint", func(ctx context.Context) (any, error) {
			*minted++
			return get(ctx, h, "token")
		})
		if err != nil {
			return nil, err
		}
		got := make([]string, n)
		err = h.Par(ctx, 4, n, func(ctx context.Context, i int) error {
			s, err := get(ctx, h, fmt.Sprintf("%v/%d", token, i))
			got[i] = s
			return err
		})
		return got, err
	}
}

// TestRandomOrders runs 16 operations of 20 requests each, answered in random
// order and cancelled at random.
func TestRandomOrders(t *testing.T) {
	seeds := int64(60)
	if os.Getenv("SOAK") != "" {
		seeds = 300
	}
	for seed := range seeds {
		randomOrder(t, seed, 16, 20)
	}
}

func randomOrder(t *testing.T, seed int64, ops, n int) {
	rnd := rand.New(rand.NewSource(seed))
	f := newFake(t)
	minted := 0
	for id := range ops {
		f.call(uint32(id), mintAndFan(&minted, n))
	}
	cancelled := map[uint32]bool{}
	for step := 0; len(f.results) < ops; step++ {
		require.Less(t, step, 100_000, "stuck: seed %d", seed)
		if id := uint32(rnd.Intn(ops)); rnd.Intn(200) == 0 && f.results[id].Kind == 0 {
			cancelled[id] = true
			f.cancel(id, errCaller)
			continue
		}
		if len(f.open) == 0 {
			continue
		}
		k := pick(rnd, f.open)
		f.answer(k, f.open[k].URL)
	}
	check(t, seed, f, cancelled)
	require.Equal(t, 1, minted)
	f.nothingLeft()
}

func pick(rnd *rand.Rand, open map[key]*transport.Request) key {
	keys := make([]key, 0, len(open))
	for k := range open {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b key) int {
		if a.op != b.op {
			return int(a.op) - int(b.op)
		}
		return int(a.stream) - int(b.stream)
	})
	return keys[rnd.Intn(len(keys))]
}

func check(t *testing.T, seed int64, f *fakeHost, cancelled map[uint32]bool) {
	t.Helper()
	for id, r := range f.results {
		if cancelled[id] {
			require.Equal(t, errCaller, r.Err, "seed %d op %d", seed, id)
			continue
		}
		require.NoError(t, r.Err, "seed %d op %d", seed, id)
		for i, s := range r.Value.([]string) {
			require.Equal(t, fmt.Sprintf("token/%d", i), s)
		}
	}
}

func TestCancelLeavesTimeToCleanUp(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		id, err := get(ctx, h, "create")
		if err != nil {
			return nil, err
		}
		if _, err = get(ctx, h, "ready?"); err != nil {
			detached, disarm := h.Detached(ctx, 5*time.Second)
			defer disarm()
			_, kerr := get(detached, h, "kill/"+id)
			return nil, errors.Join(err, kerr)
		}
		return id, nil
	})
	f.answer(f.only(), "sbx")
	f.cancel(1, errCaller)
	require.Empty(t, f.results)
	require.Equal(t, "kill/sbx", f.open[f.only()].URL)
	f.answer(f.only(), "ok")
	require.ErrorIs(t, f.results[1].Err, errCaller)
	f.nothingLeft()
}

func TestAPanicIsContained(t *testing.T) {
	boom := func(context.Context, transport.Host) (any, error) { panic("boom") }
	for name, fn := range map[string]Func{
		"operation": boom,
		"child": func(ctx context.Context, h transport.Host) (any, error) {
			return nil, h.Par(ctx, 4, 4, func(ctx context.Context, i int) error {
				if i == 2 {
					panic("boom")
				}
				_, err := get(ctx, h, "x")
				return err
			})
		},
		"flight": func(ctx context.Context, h transport.Host) (any, error) {
			return h.Flight(ctx, "k", func(ctx context.Context) (any, error) { return boom(ctx, h) })
		},
		"piece": func(ctx context.Context, h transport.Host) (any, error) {
			return h.Do(ctx, &transport.Request{Body: transport.Body{Next: func(context.Context) ([]byte, error) { panic("boom") }}})
		},
		"after a request": func(ctx context.Context, h transport.Host) (any, error) {
			_, _, _ = h.Limit(ctx, transport.ClockIdle, time.Minute)
			if _, err := get(ctx, h, "x"); err != nil {
				return nil, err
			}
			panic("boom")
		},
	} {
		f := newFake(t)
		f.call(1, fn)
		for k := range f.open {
			f.event(Event{Op: k.op, Stream: k.stream, Kind: BodyWanted})
		}
		f.answerAll("x")
		require.Equal(t, fault.CodeInternal, fault.CodeOf(f.results[1].Err), name)
		f.nothingLeft()
		f.call(2, getting("still alive"))
		f.answerAll("yes")
		require.Equal(t, "yes", f.results[2].Value, name)
	}
}

func TestAFlightPanicFreesTheKey(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		return h.Flight(ctx, "k", func(context.Context) (any, error) { panic("mint") })
	})
	f.call(2, func(ctx context.Context, h transport.Host) (any, error) {
		return h.Flight(ctx, "k", func(context.Context) (any, error) { return 1, nil })
	})
	require.Error(t, f.results[1].Err)
	require.Equal(t, 1, f.results[2].Value)
	f.nothingLeft()
}

func minting(ctx context.Context, h transport.Host) (any, error) {
	return h.Flight(ctx, "k", func(ctx context.Context) (any, error) { return get(ctx, h, "tok") })
}

func TestACancelledWaiterNeverWakesAgain(t *testing.T) {
	f := newFake(t)
	f.call(1, minting)
	f.call(2, minting)
	f.cancel(2, errCaller)
	require.Equal(t, errCaller, f.results[2].Err)
	delete(f.results, 2)
	f.call(2, getting("other"))
	for len(f.open) > 0 {
		for k, r := range f.open {
			f.answer(k, r.URL)
		}
	}
	require.Equal(t, 2, f.count(2, Done))
	require.Equal(t, "other", f.results[2].Value)
	require.Equal(t, "tok", f.results[1].Value)
	f.nothingLeft()
}

func TestAFlightEndsWhenNobodyWaits(t *testing.T) {
	f := newFake(t)
	f.call(1, minting)
	f.cancel(1, errCaller)
	require.Equal(t, 1, f.count(1, Done))
	f.nothingLeft()
}

// The flight is a task of operation 1; only operation 2 has an event when it ends.
func TestAFlightOfAnotherOperationEndsWhenNobodyWaits(t *testing.T) {
	f := newFake(t)
	f.call(1, minting)
	f.call(2, minting)
	f.cancel(1, errCaller)
	require.Equal(t, errCaller, f.results[1].Err)
	require.Zero(t, f.count(1, Done), "operation 1 is not done before its flight is")
	f.cancel(2, errCaller)
	require.Equal(t, 1, f.count(1, Done))
	f.nothingLeft()
}

func TestDisarmKeepsTheBody(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		limited, reset, disarm := h.Limit(ctx, transport.ClockRequest, time.Second)
		r, err := h.Do(limited, &transport.Request{URL: "a"})
		disarm()
		reset()
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		b, err := r.Body.Next(limited)
		return string(b), err
	})
	f.answer(f.only(), "h")
	require.Equal(t, "h", f.results[1].Value)
	f.nothingLeft()
}

func TestAHeadBeforeAnErrorIsNotLost(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		if err := h.Sleep(ctx, time.Second); err != nil { // so that both come first
			return nil, err
		}
		r, err := h.Do(ctx, &transport.Request{URL: "a"})
		if err != nil {
			return nil, err
		}
		_, err = r.Body.Next(ctx)
		return r.Status, err
	})
	for k := range f.timers {
		f.fire(k)
	}
	k := f.only()
	x := f.e.ops[k.op].exchanges[k.stream]
	x.head = &transport.Response{Status: 401}
	f.fail(k, io.ErrUnexpectedEOF)
	require.Equal(t, 401, f.results[1].Value)
	require.Equal(t, io.ErrUnexpectedEOF, f.results[1].Err)
	f.nothingLeft()
}

func TestRetriesKeepNoStream(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		for range 1000 {
			if _, err := h.Do(ctx, &transport.Request{URL: "a"}); err == nil {
				return nil, errors.New("it worked")
			}
		}
		return h.Do(ctx, &transport.Request{URL: "last"})
	})
	for range 1000 {
		f.fail(f.only(), io.ErrUnexpectedEOF)
	}
	require.Len(t, f.e.ops[1].exchanges, 1)
	f.cancel(1, nil)
	require.ErrorIs(t, f.results[1].Err, context.Canceled)
	f.nothingLeft()
}

func TestAChunkThatIsLookedAtIsHeldAndAnUnreadOneCopied(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		r, err := h.Do(ctx, &transport.Request{URL: "a"})
		if err != nil {
			return nil, err
		}
		read, err := r.Body.Next(ctx) // read at once, used later
		if err != nil {
			return nil, err
		}
		if _, err := h.Do(ctx, &transport.Request{URL: "b"}); err != nil {
			return nil, err
		}
		first := string(read)
		unread, err := r.Body.Next(ctx) // came long ago
		return first + string(unread), err
	})
	a := f.only()
	f.head(a, 200)
	buf := []byte("AAAA")
	require.True(t, f.event(Event{Op: 1, Stream: a.stream, Kind: HTTPChunk, Data: buf}), "a task looks at it")
	buf = []byte("BBBB")
	require.False(t, f.event(Event{Op: 1, Stream: a.stream, Kind: HTTPChunk, Data: buf}), "nobody has seen it")
	require.Equal(t, 4, f.e.Backlog(1, a.stream))
	copy(buf, "CCCC")
	delete(f.open, a)
	f.head(f.only(), 200)
	require.Equal(t, "AAAABBBB", f.results[1].Value)
	require.Equal(t, 2, f.count(1, HTTPAbort))
}

func TestTheSameEventsGiveTheSameOuts(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		f := newFake(t)
		minted := 0
		f.call(1, mintAndFan(&minted, 6))
		f.answer(f.only(), "token")
		f.cancel(1, errCaller)
		s := ""
		for _, o := range f.log {
			s += fmt.Sprint(o.Kind, ":", o.Stream, " ")
		}
		seen[s] = true
	}
	require.Len(t, seen, 1)
}

func TestALiveIDIsRefused(t *testing.T) {
	f := newFake(t)
	f.call(1, getting("a"))
	require.Error(t, f.e.Call(1, getting("a")))
	f.answer(f.only(), "x")
	require.NoError(t, f.e.Call(1, getting("a")))
}

func TestTheEngineIsNotReentered(t *testing.T) {
	f := newFake(t)
	f.call(1, func(context.Context, transport.Host) (any, error) { return nil, f.e.Call(2, getting("a")) })
	require.Equal(t, ErrReentered, f.results[1].Err)
	f.nothingLeft()
}

func TestLateAndUnknownEventsAreIgnored(t *testing.T) {
	f := newFake(t)
	f.call(1, getting("a"))
	k := f.only()
	f.answer(k, "x")
	for kind := HTTPHead; kind <= Cancel; kind++ {
		for _, op := range []uint32{1, 7} {
			f.event(Event{Op: op, Stream: k.stream, Kind: kind, Data: []byte("late")})
		}
	}
	f.call(2, getting("a"))
	for kind := HTTPHead; kind <= StoreResult; kind++ {
		f.event(Event{Op: 2, Stream: 99, Kind: kind, Data: []byte("unknown")})
	}
	f.answer(f.only(), "y")
	require.Equal(t, "y", f.results[2].Value)
	f.nothingLeft()
}

func TestTheEndClosesEverything(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		h.Limit(ctx, transport.ClockIdle, time.Minute)
		pieces := func(ctx context.Context) ([]byte, error) { return nil, h.Sleep(ctx, time.Minute) }
		if _, err := h.Do(ctx, &transport.Request{URL: "a", Body: transport.Body{Next: pieces}}); err != nil {
			return nil, err
		}
		if _, err := h.Dial(ctx, &transport.SocketRequest{URL: "b"}); err != nil {
			return nil, err
		}
		_, err := h.Store().Lock(ctx, "c")
		return "forgot them all", err
	})
	k := f.only()
	f.event(Event{Op: 1, Stream: k.stream, Kind: BodyWanted})
	f.head(k, 200)
	f.event(Event{Op: 1, Stream: f.stream(SocketDial), Kind: SocketOpen})
	f.event(Event{Op: 1, Stream: f.stream(StoreCall), Kind: StoreResult})
	require.Equal(t, "forgot them all", f.results[1].Value)
	for _, kind := range []OutKind{HTTPAbort, SocketClose, StoreRelease, Done} {
		require.Equal(t, 1, f.count(1, kind), "%d", kind)
	}
	f.nothingLeft()
}

// stream is the id of the first out of a kind.
func (f *fakeHost) stream(kind OutKind) uint32 {
	for _, o := range f.log {
		if o.Kind == kind {
			return o.Stream
		}
	}
	require.Fail(f, "no such out")
	return 0
}

func TestPiecesWaitForTheHost(t *testing.T) {
	f := newFake(t)
	n := 0
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		return h.Do(ctx, &transport.Request{URL: "a", Body: transport.Body{Next: func(context.Context) ([]byte, error) {
			if n++; n > 3 {
				return nil, io.EOF
			}
			return fmt.Append(nil, n), nil
		}}})
	})
	k := f.only()
	for i := 1; i <= 3; i++ {
		require.Equal(t, i-1, n, "a piece was made before it was wanted")
		f.event(Event{Op: 1, Stream: k.stream, Kind: BodyWanted})
		require.Equal(t, fmt.Sprint(i), string(f.log[len(f.log)-1].Data))
	}
	f.event(Event{Op: 1, Stream: k.stream, Kind: BodyWanted})
	require.Equal(t, 1, f.count(1, HTTPBodyEnd))
	f.answer(k, "")
	require.NoError(t, f.results[1].Err)
	f.nothingLeft()
}

func TestAResetIsToldOnceATurn(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		_, reset, disarm := h.Limit(ctx, transport.ClockIdle, time.Second)
		defer disarm()
		reset()
		_, err := get(ctx, h, "a")
		for range 10 {
			reset()
		}
		return nil, errors.Join(err, h.Sleep(ctx, time.Minute))
	})
	f.answer(f.only(), "")
	sets := 0
	for _, o := range f.log {
		if o.Kind == TimerSet && o.Stream == 1 {
			sets++
		}
	}
	require.Equal(t, 2, sets)
	f.cancel(1, nil)
	f.nothingLeft()
}

func TestALockThatCameTooLateIsGivenUp(t *testing.T) {
	f := newFake(t)
	f.call(1, func(ctx context.Context, h transport.Host) (any, error) {
		_, err := h.Store().Lock(ctx, "a")
		return nil, err
	})
	f.cancel(1, errCaller)
	require.Equal(t, 1, f.count(1, StoreRelease))
	require.Equal(t, errCaller, f.results[1].Err)
	f.nothingLeft()
}

func TestValuesComeBeforeTheResult(t *testing.T) {
	f := newFake(t)
	f.call(1, func(_ context.Context, h transport.Host) (any, error) {
		h.(Caller).Emit("started")
		return "result", nil
	})
	require.Equal(t, []any{"started", "result"}, []any{f.log[0].Value, f.log[1].Value})
}

func TestTheEngineHasNoGoroutinesOfItsOwn(t *testing.T) {
	before := runtime.NumGoroutine()
	f := newFake(t)
	for id := range uint32(1000) {
		f.call(id, getting("a"))
	}
	f.answerAll("x")
	require.Len(t, f.results, 1000)
	f.nothingLeft()
	f.e.Close()
	require.LessOrEqual(t, runtime.NumGoroutine(), before+1)
}

func BenchmarkOperation(b *testing.B) {
	e := New(fakeOptions())
	var id uint32
	body := []byte("hello")
	b.ReportAllocs()
	for b.Loop() {
		id++
		_ = e.Call(id, getting("a"))
		s := e.Take()[1].Stream
		e.Event(Event{Op: id, Stream: s, Kind: HTTPHead, Status: 200})
		e.Event(Event{Op: id, Stream: s, Kind: HTTPChunk, Data: body})
		e.Event(Event{Op: id, Stream: s, Kind: HTTPEnd})
		e.Take()
	}
}
