//go:build linux

package local

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// Bounds of a query for logs (e2b.md 1.2).
const (
	maxLogs      = 1000
	maxLogSearch = 256
)

// logQuery is what the lines of a journal are filtered by.
type logQuery struct {
	// cursor is where to begin; zero = at the end that the direction begins at.
	cursor   time.Time
	limit    int
	backward bool
	level    int
	search   string
}

// levels are the names of levels, from the least to the most urgent.
func levels() []string { return []string{"debug", "info", "warn", "error"} }

func (s *Server) logsV2(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	q, err := parseLogQuery(r.URL.Query(), "cursor")
	if err != nil {
		return err
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"logs": q.pick(sb.entries())})
	return nil
}

func (s *Server) logsV1(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	q, err := parseLogQuery(r.URL.Query(), "start")
	if err != nil {
		return err
	}
	entries := q.pick(sb.entries())
	type line struct {
		Timestamp time.Time `json:"timestamp"`
		Line      string    `json:"line"`
	}
	lines := make([]line, len(entries))
	for i, e := range entries {
		lines[i] = line{Timestamp: e.Timestamp, Line: e.Message}
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"logs": lines, "logEntries": entries})
	return nil
}

func (s *sandbox) entries() []api.LogEntry {
	lines := s.Journal()
	entries := make([]api.LogEntry, len(lines))
	for i, l := range lines {
		entries[i] = api.LogEntry{
			Timestamp: l.Time.UTC(), Message: l.Message, Level: l.Level, Fields: map[string]string{},
		}
	}
	return entries
}

func parseLogQuery(q url.Values, cursor string) (*logQuery, error) {
	query := &logQuery{limit: maxLogs, search: q.Get("search")}
	if text := q.Get(cursor); text != "" {
		ms, err := strconv.ParseInt(text, 10, 64)
		if err != nil || ms < 0 {
			return nil, api.Invalid("%s must be a Unix time in milliseconds", cursor)
		}
		query.cursor = time.UnixMilli(ms)
	}
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxLogs {
			return nil, api.Invalid("limit must be a number from 0 to %d", maxLogs)
		}
		query.limit = n
	}
	if len(query.search) > maxLogSearch {
		return nil, api.Invalid("search is longer than %d characters", maxLogSearch)
	}
	return query, query.parseWords(q)
}

func (l *logQuery) parseWords(q url.Values) error {
	switch direction := q.Get("direction"); direction {
	case "", "forward":
	case "backward":
		l.backward = true
	default:
		return api.Invalid("direction %q is neither forward nor backward", direction)
	}
	if level := q.Get("level"); level != "" {
		l.level = slices.Index(levels(), level)
		if l.level < 0 {
			return api.Invalid("level %q is none of %s", level, strings.Join(levels(), ", "))
		}
	}
	return nil
}

// pick returns the entries that the query asks for, in its direction.
func (l *logQuery) pick(entries []api.LogEntry) []api.LogEntry {
	if l.backward {
		slices.Reverse(entries)
	}
	picked := []api.LogEntry{}
	for _, e := range entries {
		if len(picked) < l.limit && l.takes(e) {
			picked = append(picked, e)
		}
	}
	return picked
}

func (l *logQuery) takes(e api.LogEntry) bool {
	at := e.Timestamp.Truncate(time.Millisecond)
	switch {
	case l.cursor.IsZero():
	case l.backward && at.After(l.cursor), !l.backward && at.Before(l.cursor):
		return false
	}
	return slices.Index(levels(), e.Level) >= l.level && strings.Contains(e.Message, l.search)
}
