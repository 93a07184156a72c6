package native

import "sync"

// maxCached bounds the cache; beyond it everything is dropped, which costs round
// trips and no result.
const maxCached = 4096

// cache is a bounded map. The zero value is ready.
type cache struct {
	mu     sync.Mutex
	values map[string]any
}

func (c *cache) Get(key string) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.values[key]
	return v, ok
}

func (c *cache) Put(key string, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil || len(c.values) >= maxCached {
		c.values = map[string]any{}
	}
	c.values[key] = value
}

func (c *cache) Delete(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.values, key)
}
