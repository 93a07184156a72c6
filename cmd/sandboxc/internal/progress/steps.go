package progress

import (
	"io"
	"sync"
	"unicode/utf8"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Steps shows how far something in several steps is: a line that counts them, the
// present one's name, its time, and what it said last. A nil Steps shows nothing.
type Steps struct {
	pool *mpb.Progress
	bar  *mpb.Bar

	mu          sync.Mutex
	title, last string
}

// lastWidth is how much of what was said last is shown.
const lastWidth = 48

// StartSteps shows of steps on w; nil w gives a nil Steps.
func StartSteps(w io.Writer, of int) *Steps {
	if w == nil {
		return nil
	}
	s := &Steps{pool: mpb.New(mpb.WithOutput(w), mpb.WithWidth(width), mpb.WithRefreshRate(refresh), mpb.WithAutoRefresh())}
	s.bar = s.pool.New(int64(of), mpb.BarStyle(),
		mpb.BarWidth(of+len("[]")+len("      ")),
		mpb.PrependDecorators(decor.CountersNoUnit("%d of %d  "), decor.Any(func(decor.Statistics) string { return s.now() + "  " })),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.Any(func(decor.Statistics) string { return "  " + s.said() })))
	return s
}

// Title names the present step.
func (s *Steps) Title(title string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.title, s.last = title, ""
}

// Say shows the last line of what the present step says; it must be safe for a
// terminal.
func (s *Steps) Say(line string) {
	if s == nil {
		return
	}
	if utf8.RuneCountInString(line) > lastWidth {
		line = string([]rune(line)[:lastWidth-1]) + "…"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = line
}

// Done counts a step.
func (s *Steps) Done() {
	if s != nil {
		s.bar.Increment()
	}
}

// Stop leaves the line as it is and gives the terminal back.
func (s *Steps) Stop() {
	if s == nil {
		return
	}
	s.bar.Abort(false)
	s.pool.Wait()
}

func (s *Steps) now() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.title
}

func (s *Steps) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
