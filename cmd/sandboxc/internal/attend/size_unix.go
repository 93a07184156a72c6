//go:build unix

package attend

import (
	"os"
	"os/signal"
	"syscall"
)

func notifySize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }
