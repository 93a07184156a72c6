package daemon

import (
	"io"
	"net/http"
	"time"
)

// uploadIdle is how long the body of an upload may stand still: a client that is
// gone without a word must not hold its file open for ever (e2b.md 3.6).
const uploadIdle = 2 * time.Minute

// idleBody is a request body whose every read has a deadline.
type idleBody struct {
	body    io.Reader
	control *http.ResponseController
	idle    time.Duration
}

// Read implements io.Reader. A connection without deadlines is read without.
func (b *idleBody) Read(p []byte) (int, error) {
	_ = b.control.SetReadDeadline(time.Now().Add(b.idle))
	return b.body.Read(p)
}

// rest lets the connection wait for its next request as long as it likes.
func (b *idleBody) rest() { _ = b.control.SetReadDeadline(time.Time{}) }
