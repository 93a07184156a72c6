package pages

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"time"
)

// CodeClock is how long a one-time code is valid.
const CodeClock = 60 * time.Second

// remembered is how long a code that is over is still told from one that never
// was; most bounds how many codes are kept.
const (
	remembered = 10 * time.Minute
	most       = 4096
)

// What is wrong with a code.
var (
	ErrUnknown = errors.New("the code is not one of this server's")
	ErrUsed    = errors.New("the code has been used already: each is valid once")
	ErrExpired = errors.New("the code has expired: it was valid for 60 s")
	ErrMany    = errors.New("too many codes were made in the last ten minutes")
)

// Codes are secrets that are good for one exchange, soon. Only their hashes are
// kept. Make it with NewCodes.
type Codes struct {
	now  func() time.Time
	mu   sync.Mutex
	made map[[sha256.Size]byte]*code
}

type code struct {
	at   time.Time
	used bool
}

// NewCodes makes an empty set on the given clock.
func NewCodes(now func() time.Time) *Codes {
	return &Codes{now: now, made: map[[sha256.Size]byte]*code{}}
}

// New makes a code. It fails with ErrMany.
func (c *Codes) New() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	if len(c.made) >= most {
		return "", ErrMany
	}
	var secret [24]byte
	_, _ = rand.Read(secret[:])
	text := base64.RawURLEncoding.EncodeToString(secret[:])
	c.made[sha256.Sum256([]byte(text))] = &code{at: c.now()}
	return text, nil
}

// Use spends a code. Errors: ErrUnknown, ErrUsed, ErrExpired.
func (c *Codes) Use(text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep()
	found := c.made[sha256.Sum256([]byte(text))]
	switch {
	case found == nil:
		return ErrUnknown
	case found.used:
		return ErrUsed
	case c.now().Sub(found.at) >= CodeClock:
		return ErrExpired
	}
	found.used = true
	return nil
}

func (c *Codes) sweep() {
	now := c.now()
	for hash, made := range c.made {
		if now.Sub(made.at) >= remembered {
			delete(c.made, hash)
		}
	}
}
