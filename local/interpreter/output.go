package interpreter

import (
	"bufio"
	"io"
	"net/http"
	"sync"
	"time"
)

// outputBuffer joins small lines into one write.
const outputBuffer = 32 << 10

// output is the stream of lines to one client. Its zero value writes nothing.
type output struct {
	mu        sync.Mutex
	w         *bufio.Writer
	control   *http.ResponseController
	keepalive *time.Timer
	silence   time.Duration
	// closed is set when the client has left or the stream has ended.
	closed bool
	// ended is closed when the last line was written.
	ended chan struct{}
}

// openOutput sends the head of the answer, and from then on a keepalive after
// each silence.
func openOutput(w http.ResponseWriter, silence time.Duration) *output {
	o := &output{w: bufio.NewWriterSize(w, outputBuffer), control: http.NewResponseController(w), silence: silence, ended: make(chan struct{})}
	_ = o.control.Flush()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keepalive = time.AfterFunc(silence, func() { o.write([]byte(keepaliveLine), false) })
	return o
}

// write writes one line; more = another one follows at once.
func (o *output) write(line []byte, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || o.w == nil {
		return
	}
	_, err := o.w.Write(line)
	if err == nil && !more {
		if err = o.w.Flush(); err == nil {
			err = o.control.Flush()
		}
	}
	if err != nil {
		o.shut()
		return
	}
	o.keepalive.Reset(o.silence)
}

func (o *output) shut() {
	o.closed = true
	if o.keepalive != nil {
		o.keepalive.Stop()
	}
}

// finish writes the last line.
func (o *output) finish() {
	o.write([]byte(endLine), false)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut()
	close(o.ended)
}

// abandon gives the client up, even in the middle of a line that it does not
// take. Nothing is written after it returns.
func (o *output) abandon() {
	if o.control != nil {
		_ = o.control.SetWriteDeadline(time.Unix(1, 0))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut()
	o.w = bufio.NewWriter(io.Discard)
}
