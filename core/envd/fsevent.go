package envd

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

var eventTypes = map[uint64]plane.EventType{
	1: plane.EventCreate, 2: plane.EventWrite, 3: plane.EventRemove, 4: plane.EventRename, 5: plane.EventChmod,
}

func itoa(n uint64) string { return strconv.FormatUint(n, 10) }

// protoFSEvent is FilesystemEvent {name 1, type 2, entry 3}.
func protoFSEvent(b []byte) (plane.Event, error) {
	e := plane.Event{Type: "unspecified"}
	err := eachField(b, func(f field) (err error) {
		switch f.num {
		case 1:
			e.Name = string(f.bytes)
		case 2:
			if t, ok := eventTypes[f.n]; ok {
				e.Type = t
			} else {
				e.Type = plane.EventType("type_" + itoa(f.n))
			}
		case 3:
			e.Entry, err = parseEntry(f.bytes)
		}
		return err
	})
	return e, err
}

type jsonFSEvent struct {
	Name  string     `json:"name"`
	Type  string     `json:"type"`
	Entry *jsonEntry `json:"entry"`
}

func (j *jsonFSEvent) event() plane.Event {
	e := plane.Event{Name: j.Name, Type: plane.EventType(strings.ToLower(strings.TrimPrefix(j.Type, "EVENT_TYPE_")))}
	if e.Type == "" {
		e.Type = "unspecified"
	}
	if j.Entry != nil {
		e.Entry = j.Entry.entry()
	}
	return e
}

// watchMessage is WatchDirResponse: oneof start 1, filesystem 2, keepalive 3.
type watchMessage struct {
	started bool
	event   *plane.Event
}

func (m *watchMessage) ParseProto(b []byte) error {
	*m = watchMessage{}
	return eachField(b, func(f field) error {
		switch f.num {
		case 1:
			m.started = true
		case 2:
			e, err := protoFSEvent(f.bytes)
			m.event = &e
			return err
		}
		return nil
	})
}

func (m *watchMessage) ParseJSON(b []byte) error {
	*m = watchMessage{}
	var j struct {
		Start      *struct{}    `json:"start"`
		Filesystem *jsonFSEvent `json:"filesystem"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	m.started = j.Start != nil
	if j.Filesystem != nil {
		e := j.Filesystem.event()
		m.event = &e
	}
	return nil
}

// watcherID is CreateWatcherResponse {watcherId 1}.
type watcherID struct{ id string }

func (w *watcherID) ParseProto(b []byte) error {
	return eachField(b, func(f field) error {
		if f.num == 1 {
			w.id = string(f.bytes)
		}
		return nil
	})
}

func (w *watcherID) ParseJSON(b []byte) error {
	var j struct {
		ID string `json:"watcherId"`
	}
	err := json.Unmarshal(b, &j)
	w.id = j.ID
	return err
}

// eventList is GetWatcherEventsResponse {events 1}.
type eventList struct{ events []plane.Event }

func (l *eventList) ParseProto(b []byte) error {
	l.events = nil
	return eachField(b, func(f field) error {
		if f.num != 1 {
			return nil
		}
		e, err := protoFSEvent(f.bytes)
		l.events = append(l.events, e)
		return err
	})
}

func (l *eventList) ParseJSON(b []byte) error {
	var j struct {
		Events []jsonFSEvent `json:"events"`
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	l.events = nil
	for i := range j.Events {
		l.events = append(l.events, j.Events[i].event())
	}
	return nil
}
