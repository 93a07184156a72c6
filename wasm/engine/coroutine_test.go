package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestACoroutineIsUsedAgain(t *testing.T) {
	before := goleak.IgnoreCurrent()
	f := newFake(t)
	f.call(1, getting("a"))
	first := f.e.ops[1].tasks[0].on
	f.answer(f.only(), "one")
	require.Equal(t, []*coroutine{first}, f.e.spare)
	f.call(2, getting("b"))
	require.Same(t, first, f.e.ops[2].tasks[0].on)
	f.answer(f.only(), "two")
	require.Equal(t, "one", f.results[1].Value)
	require.Equal(t, "two", f.results[2].Value)
	f.e.Close()
	goleak.VerifyNone(t, before)
}

func TestNoMoreCoroutinesAreKeptThanAskedFor(t *testing.T) {
	before := goleak.IgnoreCurrent()
	f := newFake(t)
	for id := range uint32(5) {
		f.call(id+1, getting("a"))
	}
	for len(f.open) > 0 {
		for k := range f.open {
			f.answer(k, "x")
			break
		}
	}
	f.nothingLeft()
	require.Len(t, f.e.spare, fakeOptions().Spare)
	f.e.Close()
	goleak.VerifyNone(t, before)
}
