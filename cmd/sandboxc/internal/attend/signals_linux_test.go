package attend

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSignalEndsTheContextWithItsCause(t *testing.T) {
	s := Listen()
	defer s.Stop()
	ctx, stop := s.Context(context.Background())
	defer stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGTERM))
	select {
	case <-ctx.Done():
	case <-time.After(5 * time.Second):
		t.Fatal("not heard")
	}
	var by *InterruptedError
	require.ErrorAs(t, Interrupted(ctx, errors.New("what it led to")), &by)
	require.Equal(t, 15, by.Number())
	require.NoError(t, Interrupted(ctx, nil))
}

func TestStoppedContextLeavesSignalsToTheNext(t *testing.T) {
	s := Listen()
	defer s.Stop()
	_, stop := s.Context(context.Background())
	stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
	select {
	case sig := <-s.c:
		require.Equal(t, os.Interrupt, sig)
	case <-time.After(5 * time.Second):
		t.Fatal("not heard")
	}
}

func TestBrokenPipeIsAnErrorAndNoDeath(t *testing.T) {
	s := Listen()
	defer s.Stop()
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGPIPE))
	time.Sleep(20 * time.Millisecond)
}
