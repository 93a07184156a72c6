//go:build linux

package guest

// thread runs functions one after the other on the one system thread that
// called serve. A command started on it inherits exactly that thread's
// credentials, whatever other threads of the process hold.
type thread struct {
	jobs chan func()
}

func newThread() *thread { return &thread{jobs: make(chan func())} }

// do runs f on the thread and waits for it.
func (t *thread) do(f func()) {
	done := make(chan struct{})
	t.jobs <- func() { defer close(done); f() }
	<-done
}

// serve never returns; the caller has locked its goroutine to its thread.
func (t *thread) serve() {
	for f := range t.jobs {
		f()
	}
}
