package fleet

import (
	"sync"
	"time"
)

// journalSize is how many lines a sandbox's journal keeps.
const journalSize = 256

// Line is one line of a sandbox's journal.
type Line struct {
	Time    time.Time
	Level   string
	Message string
}

// journal keeps the newest lines. The zero value is empty.
type journal struct {
	mu    sync.Mutex
	lines []Line
}

func (j *journal) add(level, message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == journalSize {
		j.lines = append(j.lines[:0], j.lines[1:]...)
	}
	j.lines = append(j.lines, Line{Time: time.Now(), Level: level, Message: message})
}

// Note adds a line of level info to the journal. It must hold no secret.
func (s *Sandbox) Note(message string) { s.journal.add("info", message) }

// Journal returns a copy of what happened to the sandbox, oldest first.
func (s *Sandbox) Journal() []Line {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	return append([]Line(nil), s.journal.lines...)
}
