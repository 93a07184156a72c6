package interpreter

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
)

// contexts are those of one sandbox.
type contexts struct {
	workshop *workshop

	mu   sync.Mutex
	byID map[string]*session
	// order is that in which they were made.
	order []*session
	// defaults are the contexts of calls that name a language, by language.
	defaults map[string]*session
	closed   bool
}

func newContexts(w *workshop) *contexts {
	return &contexts{workshop: w, byID: map[string]*session{}, defaults: map[string]*session{}}
}

// newID is a random id of the form of a UUID.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}

// get finds a context, nil = there is none.
func (c *contexts) get(id string) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID[id]
}

// forLanguage gives the default context of a normalised language; it has no
// kernel before its first use.
func (c *contexts) forLanguage(language string) (*session, error) {
	c.mu.Lock()
	known := c.defaults[language]
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	if _, err := c.workshop.find(language); err != nil {
		return nil, err
	}
	cwd, err := c.workshop.workingDir("")
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.defaults[language]; s != nil {
		return s, nil
	}
	s := c.workshop.newSession(language, cwd)
	c.defaults[language] = s
	return s, c.put(s)
}

// create makes a context with its kernel.
func (c *contexts) create(language, cwd string) (*session, error) {
	s := c.workshop.newSession(language, cwd)
	if _, err := s.ready(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	err := c.put(s)
	c.mu.Unlock()
	if err != nil {
		s.remove(errClosing)
	}
	return s, err
}

func (c *contexts) put(s *session) error {
	if c.closed {
		return errClosing
	}
	c.byID[s.id] = s
	c.order = append(c.order, s)
	return nil
}

// list gives all contexts. Those of python and javascript are always there
// where a kernel is, as at E2B.
func (c *contexts) list() []*session {
	for _, language := range []string{"python", "javascript"} {
		_, _ = c.forLanguage(language)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*session{}, c.order...)
}

// remove ends a context; false = there is none.
func (c *contexts) remove(id string) bool {
	c.mu.Lock()
	s := c.byID[id]
	if s != nil {
		c.drop(s)
	}
	c.mu.Unlock()
	if s != nil {
		s.remove(errRemoved)
	}
	return s != nil
}

func (c *contexts) drop(s *session) {
	delete(c.byID, s.id)
	for i, other := range c.order {
		if other == s {
			c.order = append(c.order[:i:i], c.order[i+1:]...)
			break
		}
	}
	if c.defaults[s.language] == s {
		delete(c.defaults, s.language)
	}
}

func (c *contexts) close() {
	c.mu.Lock()
	c.closed = true
	all := c.order
	c.order, c.byID, c.defaults = nil, map[string]*session{}, map[string]*session{}
	c.mu.Unlock()
	var ending sync.WaitGroup
	for _, s := range all {
		ending.Go(func() { s.remove(errClosing) })
	}
	ending.Wait()
}
