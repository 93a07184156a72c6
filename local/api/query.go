package api

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// MaxPage is the largest and the default size of a page of a list.
const MaxPage = 100

// ListQuery is what a list is filtered by. The zero value takes everything.
type ListQuery struct {
	Metadata  map[string]string
	Running   bool
	Paused    bool
	Ascending bool
	// StartedAfter is inclusive; zero = no bound.
	StartedAfter time.Time
	Template     string
	Limit        int
	// After is where the page begins; nil = at the start.
	After *Cursor
}

// ParseListQuery reads the query of GET /v2/sandboxes.
func ParseListQuery(q url.Values) (*ListQuery, error) {
	list := &ListQuery{Limit: MaxPage, Template: q.Get("template")}
	steps := []func(url.Values) error{
		list.readMetadata, list.readStates, list.readOrder,
		list.readStartedAfter, list.readLimit, list.readCursor,
	}
	for _, step := range steps {
		if err := step(q); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// ParseOldListQuery reads the query of the deprecated GET /sandboxes, which
// lists running sandboxes only, on one page.
func ParseOldListQuery(q url.Values) (*ListQuery, error) {
	list := &ListQuery{Running: true}
	return list, list.readMetadata(q)
}

func (l *ListQuery) readMetadata(q url.Values) error {
	filter, err := ParseMetadata(q.Get("metadata"))
	l.Metadata = filter
	return err
}

func (l *ListQuery) readStates(q url.Values) error {
	states := strings.Join(q["state"], ",")
	if states == "" {
		l.Running, l.Paused = true, true
		return nil
	}
	for state := range strings.SplitSeq(states, ",") {
		switch strings.TrimSpace(state) {
		case StateRunning:
			l.Running = true
		case StatePaused:
			l.Paused = true
		default:
			return Invalid("state %q is neither running nor paused", state)
		}
	}
	return nil
}

func (l *ListQuery) readOrder(q url.Values) error {
	switch order := q.Get("order"); order {
	case "", "desc":
	case "asc":
		l.Ascending = true
	default:
		return Invalid("order %q is neither asc nor desc", order)
	}
	return nil
}

func (l *ListQuery) readStartedAfter(q url.Values) error {
	text := q.Get("startedAfter")
	if text == "" {
		return nil
	}
	// A plus sign that nobody escaped arrives as a space.
	at, err := time.Parse(time.RFC3339Nano, strings.ReplaceAll(text, " ", "+"))
	if err != nil {
		return Invalid("startedAfter %q is not an RFC 3339 time", text)
	}
	l.StartedAfter = at
	return nil
}

func (l *ListQuery) readLimit(q url.Values) error {
	text := q.Get("limit")
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxPage {
		return Invalid("limit %q is not a number from 1 to %d", text, MaxPage)
	}
	l.Limit = n
	return nil
}

func (l *ListQuery) readCursor(q url.Values) error {
	token := q.Get("nextToken")
	if token == "" {
		return nil
	}
	cursor, err := ParseCursor(token, l.Ascending)
	if err != nil {
		return err
	}
	l.After = &cursor
	return nil
}

// ParseMetadata reads a metadata filter after ordinary query decoding. Clients
// encode keys and values once, the joined pairs a second time, and the query a
// third (e2b.md 1.2); a filter with fewer layers reads the same as long as it
// holds no percent sign of its own.
func ParseMetadata(filter string) (map[string]string, error) {
	if filter == "" {
		return nil, nil
	}
	joined, err := url.QueryUnescape(filter)
	if err != nil {
		return nil, Invalid("the metadata filter is not properly percent-encoded")
	}
	pairs := map[string]string{}
	for pair := range strings.SplitSeq(joined, "&") {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return nil, Invalid("the metadata filter must be key=value pairs joined by &")
		}
		if key, err = url.QueryUnescape(key); err == nil {
			value, err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, Invalid("the metadata filter is not properly percent-encoded")
		}
		pairs[key] = value
	}
	return pairs, nil
}
