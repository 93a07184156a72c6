package api

import (
	"encoding/base64"
	"strings"
	"time"
)

// Cursor is the place in a list after which the next page begins. Clients hold
// it as an opaque token (e2b.md 1.2).
type Cursor struct {
	StartedAt time.Time
	SandboxID string
	Ascending bool
}

// Token returns the cursor as the header X-Next-Token carries it.
func (c Cursor) Token() string {
	text := c.StartedAt.UTC().Format(time.RFC3339Nano) + "__" + c.SandboxID
	if c.Ascending {
		text += "__asc"
	}
	return base64.URLEncoding.EncodeToString([]byte(text))
}

// ParseCursor reads a token. One that was made for the other order, or that is
// none of ours, is a Fault.
func ParseCursor(token string, ascending bool) (Cursor, error) {
	bad := Invalid("Invalid next token")
	text, err := base64.URLEncoding.DecodeString(token)
	if err != nil {
		return Cursor{}, bad
	}
	parts := strings.Split(string(text), "__")
	asc := len(parts) == 3 && parts[2] == "asc"
	if (len(parts) != 2 && !asc) || asc != ascending || !ValidID(parts[1]) {
		return Cursor{}, bad
	}
	at, err := time.Parse(time.RFC3339Nano, parts[0])
	if err != nil {
		return Cursor{}, bad
	}
	return Cursor{StartedAt: at, SandboxID: parts[1], Ascending: asc}, nil
}

// Before reports whether a sandbox that started at the given time comes before
// or at the cursor, that is, on an earlier page.
func (c Cursor) Before(startedAt time.Time, id string) bool {
	order := startedAt.Compare(c.StartedAt)
	if order == 0 {
		order = strings.Compare(id, c.SandboxID)
	}
	if c.Ascending {
		return order <= 0
	}
	return order >= 0
}
