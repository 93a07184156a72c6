package engine

// maxCached bounds the cache; beyond it everything is dropped, which costs round
// trips and no result.
const maxCached = 4096

// cache is a bounded map. The zero value is ready. Only tasks use it, one at a
// time.
type cache struct{ values map[string]any }

func (c *cache) Get(key string) (any, bool) {
	v, ok := c.values[key]
	return v, ok
}

func (c *cache) Put(key string, value any) {
	if c.values == nil || len(c.values) >= maxCached {
		c.values = map[string]any{}
	}
	c.values[key] = value
}

func (c *cache) Delete(key string) { delete(c.values, key) }
