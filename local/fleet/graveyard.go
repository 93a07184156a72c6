package fleet

import "sync"

// graveCount is how many ended sandboxes are remembered.
const graveCount = 1024

// graveyard remembers how sandboxes ended, so that a call that comes too late
// can be told. The zero value is empty.
type graveyard struct {
	mu    sync.Mutex
	fates map[string]string
	order []string
}

func (g *graveyard) bury(id, fate string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.fates == nil {
		g.fates = map[string]string{}
	}
	if len(g.order) == graveCount {
		delete(g.fates, g.order[0])
		g.order = append(g.order[:0], g.order[1:]...)
	}
	g.fates[id] = fate
	g.order = append(g.order, id)
}

func (g *graveyard) fate(id string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.fates[id]
}
