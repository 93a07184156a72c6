package daemon

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// queueLength is how many chunks may wait for one subscriber: 1 MiB of output.
const queueLength = 32

// stuckSubscriber is how long one subscriber may hold up the others.
const stuckSubscriber = 5 * time.Second

// fanout passes the output of a command to everyone who follows it.
//
// Nothing is dropped for a subscriber that reads: a full queue holds up the
// command, as a full pipe would. While somebody else follows too, that ends after
// stuckSubscriber: then the one that does not read is cut off. Without any
// subscriber output is dropped.
type fanout struct {
	mu   sync.Mutex
	subs atomic.Pointer[[]*subscriber]
	shut chan struct{}
	once sync.Once
	// patience is stuckSubscriber, but in tests.
	patience time.Duration
}

func newFanout() *fanout {
	return &fanout{shut: make(chan struct{}), patience: stuckSubscriber}
}

// subscriber is one stream that follows a command.
type subscriber struct {
	queue chan *chunk
	gone  chan struct{}
	cut   chan struct{}
}

func (f *fanout) subscribe() *subscriber {
	s := &subscriber{
		queue: make(chan *chunk, queueLength),
		gone:  make(chan struct{}),
		cut:   make(chan struct{}),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	list := append(slices.Clone(f.list()), s)
	f.subs.Store(&list)
	return s
}

// unsubscribe is called once by the subscriber itself.
func (f *fanout) unsubscribe(s *subscriber) {
	f.remove(s)
	close(s.gone)
}

// remove takes s off the list and says whether it was on it.
func (f *fanout) remove(s *subscriber) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := f.list()
	at := slices.Index(list, s)
	if at < 0 {
		return false
	}
	list = slices.Delete(slices.Clone(list), at, at+1)
	f.subs.Store(&list)
	return true
}

func (f *fanout) list() []*subscriber {
	if list := f.subs.Load(); list != nil {
		return *list
	}
	return nil
}

// abandon ends every wait of publish, now and later.
func (f *fanout) abandon() { f.once.Do(func() { close(f.shut) }) }

// publish gives the chunk away to all subscribers.
func (f *fanout) publish(c *chunk) {
	list := f.list()
	c.refs.Add(int32(len(list)))
	for _, s := range list {
		if !f.offer(s, c) {
			c.release()
		}
	}
	c.release()
}

// offer waits until s has taken the chunk or is not there any more.
func (f *fanout) offer(s *subscriber, c *chunk) bool {
	select {
	case s.queue <- c:
		return true
	default:
	}
	for {
		from := time.Now()
		timer := time.NewTimer(f.patience)
		select {
		case s.queue <- c:
			timer.Stop()
			return true
		case <-s.gone:
		case <-s.cut:
		case <-f.shut:
		case <-timer.C:
			// After a pause the others have had no chance to read either.
			paused := time.Since(from) > f.patience+awakeLapse
			if paused || len(f.list()) < 2 {
				continue
			}
			if f.remove(s) {
				close(s.cut)
			}
		}
		timer.Stop()
		return false
	}
}
