// Package progress shows how far a copy is, to a person at a terminal.
package progress

import (
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Bar counts bytes. A nil Bar shows nothing.
type Bar struct {
	pool *mpb.Progress
	bar  *mpb.Bar
}

const (
	// nameWidth is how much of a name is shown.
	nameWidth = 30
	width     = 64
	refresh   = 150 * time.Millisecond
)

// Start shows a bar on w; nil w gives a nil Bar. total is in bytes; below zero it
// is unknown.
func Start(w io.Writer, name string, total int64) *Bar {
	if w == nil {
		return nil
	}
	if runes := []rune(name); len(runes) > nameWidth {
		name = "…" + string(runes[len(runes)-nameWidth:])
	}
	counter := decor.CountersKibiByte("% .1f / % .1f")
	if total < 0 {
		counter, total = decor.CurrentKibiByte("% .1f"), 0
	}
	pool := mpb.New(mpb.WithOutput(w), mpb.WithWidth(width), mpb.WithRefreshRate(refresh), mpb.WithAutoRefresh())
	bar := pool.AddBar(total, mpb.PrependDecorators(decor.Name(name+"  "), counter),
		mpb.AppendDecorators(decor.AverageSpeed(decor.SizeB1024(0), "% .1f")))
	return &Bar{pool, bar}
}

// Add counts n more bytes.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.bar.IncrInt64(n)
	}
}

// Reader counts what is read from r.
func (b *Bar) Reader(r io.Reader) io.Reader {
	if b == nil {
		return r
	}
	return reader{r, b}
}

// Writer counts what is written to w.
func (b *Bar) Writer(w io.Writer) io.Writer {
	if b == nil {
		return w
	}
	return writer{w, b}
}

// Stop leaves the bar as it is and gives the terminal back.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.bar.Abort(false)
	b.pool.Wait()
}

type reader struct {
	io.Reader
	bar *Bar
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.bar.Add(int64(n))
	return n, err
}

type writer struct {
	io.Writer
	bar *Bar
}

func (w writer) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.bar.Add(int64(n))
	return n, err
}
