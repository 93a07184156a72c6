package egress

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	// freshFor is how long an answer of the resolver is used again.
	freshFor = 30 * time.Second
	// maxNames bounds what one sandbox can make the host remember.
	maxNames = 4096
	// maxAddresses bounds what is kept of one answer.
	maxAddresses = 64
)

// book remembers which names a sandbox asked for and what they resolved to.
type book struct {
	mu       sync.Mutex
	entries  map[string]*entry
	order    []string // oldest first
	standIns map[netip.Addr]string
	next     uint32
}

type entry struct {
	addrs   []netip.Addr
	until   time.Time
	standIn netip.Addr
}

func newBook() *book {
	return &book{entries: map[string]*entry{}, standIns: map[netip.Addr]string{}}
}

// fresh gives the addresses of a name while they may be used again.
func (b *book) fresh(name string, now time.Time) ([]netip.Addr, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entries[name]
	if e == nil || len(e.addrs) == 0 || now.After(e.until) {
		return nil, false
	}
	return e.addrs, true
}

// any gives the last known addresses of a name, however old.
func (b *book) any(name string) []netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.entries[name]; e != nil {
		return e.addrs
	}
	return nil
}

// record keeps an answer of the resolver. The newest answer alone counts: what a
// name resolved to before is not what it means now.
func (b *book) record(name string, addrs []netip.Addr, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(name)
	e.addrs, e.until = addrs[:min(len(addrs), maxAddresses)], now.Add(freshFor)
}

func (b *book) entry(name string) *entry {
	if e := b.entries[name]; e != nil {
		return e
	}
	if len(b.order) >= maxNames {
		oldest := b.order[0]
		b.order = b.order[1:]
		delete(b.standIns, b.entries[oldest].standIn)
		delete(b.entries, oldest)
	}
	e := &entry{}
	b.entries[name] = e
	b.order = append(b.order, name)
	return e
}

// namesOf lists the names that last resolved to an address, newest first.
func (b *book) namesOf(a netip.Addr) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for _, name := range slices.Backward(b.order) {
		if slices.Contains(b.entries[name].addrs, a) {
			names = append(names, name)
		}
	}
	return names
}

// standIn gives an address that means a name inside this sandbox, for names whose
// IPv4 address the host does not know: 198.18.0.0/15 is never routed (RFC 2544).
func (b *book) standIn(name string) netip.Addr {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.entry(name)
	if !e.standIn.IsValid() {
		b.next = (b.next + 1) % (1 << 17)
		e.standIn = netip.AddrFrom4([4]byte{198, 18 + byte(b.next>>16), byte(b.next >> 8), byte(b.next)})
		b.standIns[e.standIn] = name
	}
	return e.standIn
}

// meaning is the name that a stand-in address was given for.
func (b *book) meaning(a netip.Addr) (string, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name, ok := b.standIns[a]
	return name, ok
}
