package attend

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Signals are what this program hears while it runs a command.
type Signals struct{ c chan os.Signal }

// Listen begins to hear. Broken pipes are heard too, and ignored: that way a
// write to one gives an error instead of death, and what is to be ended can
// still be ended. Programs that this one starts do not inherit any of it.
func Listen() *Signals {
	s := &Signals{c: make(chan os.Signal, 8)}
	signal.Notify(s.c, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // under nohup it stays so
		signal.Notify(s.c, syscall.SIGHUP)
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s
}

// Stop gives the signals back.
func (s *Signals) Stop() { signal.Stop(s.c) }

// Context gives a ctx that ends at the first signal, with *InterruptedError as
// its cause, until stop is called.
func (s *Signals) Context(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case sig := <-s.c:
			cancel(&InterruptedError{sig})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-over
	}
}

// InterruptedError says that a signal to this program ended what it did.
type InterruptedError struct{ Signal os.Signal }

// Error names the signal.
func (e *InterruptedError) Error() string { return "ended by a signal: " + e.Signal.String() }

// Number is the signal's number.
func (e *InterruptedError) Number() int {
	if n, ok := e.Signal.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}

// Interrupted prefers the signal that ended ctx over the error that it led to.
func Interrupted(ctx context.Context, err error) error {
	var by *InterruptedError
	if err != nil && errors.As(context.Cause(ctx), &by) {
		return by
	}
	return err
}
