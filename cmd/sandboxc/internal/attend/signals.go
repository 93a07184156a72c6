package attend

import (
	"os"
	"os/signal"
	"syscall"
)

// Signals are what this program hears while it attends a command.
type Signals struct {
	C <-chan os.Signal
	c chan os.Signal
}

// Listen begins to hear. Broken pipes are heard too, and ignored by all who
// listen: that way a write to one gives an error, and the sandbox can still be
// ended. The children of this program do not inherit any of it.
func Listen() *Signals {
	s := &Signals{c: make(chan os.Signal, 8)}
	s.C = s.c
	signal.Notify(s.c, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return s
}

// Stop gives the signals back.
func (s *Signals) Stop() { signal.Stop(s.c) }

// Number is a signal's number.
func Number(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return int(n)
	}
	return 0
}
