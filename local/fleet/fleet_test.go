package fleet

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeBox stands for a sandbox in tests of the pure state machine.
type fakeBox struct {
	once            sync.Once
	done            chan struct{}
	pauses, resumes atomic.Int32
	kills           atomic.Int32
	slow            time.Duration
	pauseErr        error
	cpu             atomic.Int64
}

func newFakeBox() *fakeBox { return &fakeBox{done: make(chan struct{})} }

func (b *fakeBox) Dial(context.Context) (net.Conn, error) { return nil, errors.New("fake") }

func (b *fakeBox) DialPort(context.Context, int) (net.Conn, error) { return nil, errors.New("fake") }
func (b *fakeBox) Done() <-chan struct{}                           { return b.done }
func (b *fakeBox) Usage() (Usage, error)                           { return Usage{CPU: time.Duration(b.cpu.Load())}, nil }

func (b *fakeBox) Pause(context.Context) error {
	b.pauses.Add(1)
	b.work()
	return b.pauseErr
}

func (b *fakeBox) Resume(context.Context) error {
	b.resumes.Add(1)
	b.work()
	return nil
}

// work takes as long as the box is slow, unless it is killed.
func (b *fakeBox) work() {
	select {
	case <-time.After(b.slow):
	case <-b.done:
	}
}

func (b *fakeBox) Kill() error {
	b.kills.Add(1)
	b.once.Do(func() { close(b.done) })
	return nil
}

func slow(d time.Duration) func(*fakeBox) { return func(b *fakeBox) { b.slow = d } }

func newFleet() *Fleet { return New(slog.New(slog.DiscardHandler)) }

func add(t *testing.T, f *Fleet, spec Spec, set ...func(*fakeBox)) (*Sandbox, *fakeBox) {
	t.Helper()
	if spec.ID == "" {
		spec.ID = "i1"
	}
	box := newFakeBox()
	for _, set := range set {
		set(box)
	}
	s, err := f.Add(spec, box)
	require.NoError(t, err)
	return s, box
}

func requireGone(t *testing.T, f *Fleet, id, fate string) {
	t.Helper()
	_, err := f.Get(id)
	var missing *NotFoundError
	require.ErrorAs(t, err, &missing)
	require.Equal(t, fate, missing.Fate)
}

func TestLifeEndsAndKills(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		left := 0
		_, box := add(t, f, Spec{Lifetime: time.Minute, Left: func() { left++ }})
		time.Sleep(time.Minute - time.Second)
		_, err := f.Get("i1")
		require.NoError(t, err)
		time.Sleep(2 * time.Second)
		requireGone(t, f, "i1", fateExpired)
		require.EqualValues(t, 1, box.kills.Load())
		require.Equal(t, 1, left)
	})
}

func TestLifeEndsAndPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, box := add(t, f, Spec{Lifetime: time.Minute, Pauses: true})
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, Paused, s.State())
		time.Sleep(48 * time.Hour)
		require.Equal(t, Paused, s.State(), "a paused sandbox has no end")
		resumed, err := f.Connect(t.Context(), s, time.Hour, true)
		require.NoError(t, err)
		require.True(t, resumed)
		require.EqualValues(t, 1, box.resumes.Load())
		time.Sleep(time.Hour + time.Second)
		require.Equal(t, Paused, s.State(), "and a resumed one has one again")
	})
}

func TestNoLifetimeIsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{})
		require.True(t, s.EndAt().IsZero())
		time.Sleep(48 * time.Hour)
		require.Equal(t, Running, s.State())
		require.NoError(t, s.ExtendLifetime(time.Minute))
		require.True(t, s.EndAt().IsZero(), "extending never shortens")
		require.NoError(t, s.SetLifetime(time.Minute))
		time.Sleep(2 * time.Minute)
		requireGone(t, f, "i1", fateExpired)
	})
}

func TestLifetimeChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{Lifetime: time.Minute})
		start := time.Now()
		require.NoError(t, s.ExtendLifetime(time.Second))
		require.Equal(t, start.Add(time.Minute), s.EndAt(), "extending never shortens")
		require.NoError(t, s.ExtendLifetime(time.Hour))
		require.Equal(t, start.Add(time.Hour), s.EndAt())
		time.Sleep(30 * time.Minute)
		require.NoError(t, s.SetLifetime(time.Minute))
		time.Sleep(61 * time.Second)
		requireGone(t, f, "i1", fateExpired)
		require.ErrorAs(t, s.SetLifetime(time.Minute), new(*StateError))
	})
}

func TestFailedAutoPauseGetsARespite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, box := add(t, f, Spec{Lifetime: time.Minute, Pauses: true}, func(b *fakeBox) { b.pauseErr = errors.New("no freezer") })
		time.Sleep(time.Minute + 2*pauseRetry + time.Second)
		require.Equal(t, Running, s.State())
		require.EqualValues(t, 3, box.pauses.Load())
	})
}

func TestOnlyOneChangeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, box := add(t, f, Spec{}, slow(time.Second))
		var done sync.WaitGroup
		var won, lost atomic.Int32
		for range 10 {
			done.Go(func() {
				if err := f.Pause(t.Context(), s); err == nil {
					won.Add(1)
				} else {
					var state *StateError
					require.ErrorAs(t, err, &state)
					require.Equal(t, Pausing, state.State)
					lost.Add(1)
				}
			})
		}
		done.Wait()
		require.EqualValues(t, 1, won.Load())
		require.EqualValues(t, 9, lost.Load())
		require.EqualValues(t, 1, box.pauses.Load())
		require.ErrorAs(t, f.Pause(t.Context(), s), new(*StateError), "already paused")
	})
}

func TestConnectsOfManyAreOneResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, box := add(t, f, Spec{}, slow(time.Second))
		require.NoError(t, f.Pause(t.Context(), s))
		var resumes atomic.Int32
		var done sync.WaitGroup
		for range 10 {
			done.Go(func() {
				resumed, err := f.Connect(t.Context(), s, time.Minute, true)
				require.NoError(t, err)
				if resumed {
					resumes.Add(1)
				}
			})
		}
		done.Wait()
		require.EqualValues(t, 1, resumes.Load())
		require.EqualValues(t, 1, box.resumes.Load())
		require.Equal(t, Running, s.State())
	})
}

func TestConnectWaitsForAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{}, slow(time.Second))
		go func() { _ = f.Pause(context.Background(), s) }()
		synctest.Wait()
		require.Equal(t, Pausing, s.State())
		resumed, err := f.Connect(t.Context(), s, time.Minute, true)
		require.NoError(t, err)
		require.True(t, resumed)
	})
}

func TestKillWinsOverAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{}, slow(time.Hour))
		result := make(chan error, 1)
		go func() { result <- f.Pause(context.Background(), s) }()
		synctest.Wait()
		require.NoError(t, f.Kill(s))
		var state *StateError
		require.ErrorAs(t, <-result, &state)
		require.Equal(t, Killing, state.State)
		requireGone(t, f, "i1", fateKilled)
		require.ErrorAs(t, f.Kill(s), new(*NotFoundError), "a second kill")
	})
}

func TestWakeBeginsTheLifetimeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{Lifetime: 10 * time.Minute, Pauses: true, Resumes: true})
		require.NoError(t, f.Pause(t.Context(), s))
		time.Sleep(time.Hour)
		require.NoError(t, f.Wake(t.Context(), s))
		require.Equal(t, time.Now().Add(10*time.Minute), s.EndAt())
		end := s.EndAt()
		time.Sleep(time.Minute)
		require.NoError(t, f.Wake(t.Context(), s))
		require.Equal(t, end, s.EndAt(), "traffic to a running sandbox does not extend its life")
	})
}

func TestWakeGivesFiveMinutesAtLeast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		short, _ := add(t, f, Spec{ID: "i1", Lifetime: time.Second, Pauses: true, Resumes: true})
		endless, _ := add(t, f, Spec{ID: "i2", Pauses: true, Resumes: true})
		for _, s := range []*Sandbox{short, endless} {
			require.NoError(t, f.Pause(t.Context(), s))
			require.NoError(t, f.Wake(t.Context(), s))
		}
		require.Equal(t, time.Now().Add(5*time.Minute), short.EndAt())
		require.True(t, endless.EndAt().IsZero())
	})
}

func TestABoxThatEndsByItselfLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		_, box := add(t, f, Spec{})
		require.NoError(t, box.Kill())
		synctest.Wait()
		requireGone(t, f, "i1", fateDied)
		require.Zero(t, f.Len())
	})
}

func TestCloseKillsAllAndAddsNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		var boxes []*fakeBox
		for _, id := range []string{"i1", "i2", "i3"} {
			_, box := add(t, f, Spec{ID: id, Lifetime: time.Hour})
			boxes = append(boxes, box)
		}
		f.Close()
		for _, box := range boxes {
			require.EqualValues(t, 1, box.kills.Load())
		}
		require.Zero(t, f.Len())
		late, left := newFakeBox(), false
		_, err := f.Add(Spec{ID: "i4", Left: func() { left = true }}, late)
		require.ErrorAs(t, err, new(*NotFoundError))
		require.EqualValues(t, 1, late.kills.Load())
		require.True(t, left)
	})
}

func TestSettleGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, _ := add(t, f, Spec{}, slow(time.Hour))
		go func() { _ = f.Pause(context.Background(), s) }()
		synctest.Wait()
		_, err := s.Settle(t.Context())
		var state *StateError
		require.ErrorAs(t, err, &state)
		require.Equal(t, Pausing, state.State)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = s.Settle(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestSamples(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet()
		defer f.Close()
		s, box := add(t, f, Spec{})
		time.Sleep(2 * time.Second)
		require.Len(t, s.Samples(), 1, "who asks first gets one at once")
		box.cpu.Store(int64(4 * time.Second))
		time.Sleep(2 * time.Second)
		samples := s.Samples()
		require.InDelta(t, 200, samples[len(samples)-1].CPUPercent, 1)
		time.Sleep(time.Hour)
		require.Len(t, s.Samples(), sampleCount)
	})
}

func TestJournalKeepsTheNewest(t *testing.T) {
	f := newFleet()
	defer f.Close()
	s, _ := add(t, f, Spec{})
	for range journalSize {
		s.Note("x")
	}
	lines := s.Journal()
	require.Len(t, lines, journalSize)
	require.Equal(t, "x", lines[0].Message)
}

func TestManyAtOnce(t *testing.T) {
	f := newFleet()
	s, _ := add(t, f, Spec{Lifetime: time.Hour})
	var done sync.WaitGroup
	for i := range 8 {
		done.Go(func() {
			for range 200 {
				switch i % 4 {
				case 0:
					_ = f.Pause(t.Context(), s)
				case 1:
					_, _ = f.Connect(t.Context(), s, time.Hour, true)
				case 2:
					_ = s.SetLifetime(time.Hour)
				default:
					_ = s.Samples()
				}
			}
		})
	}
	done.Wait()
	f.Close()
	requireGone(t, f, "i1", fateClosed)
}

func TestPauseThatAKillOvertakesIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		f := New(slog.New(slog.NewTextHandler(&log, nil)))
		defer f.Close()
		s, box := add(t, f, Spec{}, slow(time.Second), func(b *fakeBox) { b.pauseErr = errors.New("gone") })
		paused := make(chan error, 1)
		go func() { paused <- f.Pause(t.Context(), s) }()
		synctest.Wait()
		require.NoError(t, f.Kill(s))
		var state *StateError
		require.ErrorAs(t, <-paused, &state)
		require.Equal(t, Killing, state.State)
		require.EqualValues(t, 1, box.pauses.Load())
		require.NotContains(t, log.String(), "pause failed")
	})
}
