package main

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/method"
)

// Colour is the colour of a box. Values unknown to us survive.
type Colour string

// The colours.
const (
	ColourRed      Colour = "red"
	ColourDarkBlue Colour = "dark-blue" // nearly black
)

// Shared is embedded.
type Shared struct {
	SandboxID *string `json:"sandbox_id,omitempty"` // default: the sandbox of the call
}

// Label is a nested type.
type Label struct {
	Text     string    `json:"text"`               // what it says
	PrintAt  time.Time `json:"print_at,omitzero"`  // when it is printed; absent = never
	GlueMS   int64     `json:"glue_ms,omitempty"`  // how long it dries
	Password string    `json:"password,omitempty"` // opens it
}

// Box is what BoxesPack gives.
type Box struct {
	MadeAt    time.Time          `json:"madeAt"` // UTC
	Colour    Colour             `json:"colour"`
	Label     *Label             `json:"label,omitempty"`
	Labels    []Label            `json:"labels"`
	ByName    map[string][]Label `json:"by_name,omitempty"`
	Tags      map[string]string  `json:"tags,omitempty"`
	Full      bool               `json:"full,omitempty"`
	Weight    float64            `json:"weight,omitempty"`
	Nick      string             `json:"nick,omitempty"`
	Sealed    *bool              `json:"sealed,omitempty"`
	LastingMS int64              `json:"lasting_ms"`
	Extra     json.RawMessage    `json:"extra,omitempty"`
}

// BoxesPack packs a box until wait_ms has passed; see max_weight. Errors: E4001
// when there is none, E4003, and E2005.
type BoxesPack struct {
	Name      string          `json:"name" arg:"1"`           // of the box
	From      string          `json:"from,omitempty" arg:"2"` // who sends it
	WaitMS    *int64          `json:"wait_ms,omitempty"`      // how long; 0 = no limit
	MaxWeight float64         `json:"max_weight,omitempty"`   // in kg
	Labels    []Label         `json:"labels,omitempty"`       // all of them
	Colour    Colour          `json:"colour,omitempty"`       // default: red
	Since     time.Time       `json:"since,omitzero"`         // not before
	Words     []string        `json:"words,omitempty"`        // any
	Any       json.RawMessage `json:"any,omitempty"`          // whatever
	Shared
}

// BoxesCount counts.
type BoxesCount struct{ Shared }

// BoxesAddress is where a box stands.
type BoxesAddress struct {
	Shelf int `json:"shelf" arg:"1"` // from 1
}

// BoxesOpen is done by hand.
type BoxesOpen struct {
	Key string `json:"key"` // to its lock
}

func entry[P any](name string, shape method.Shape, result reflect.Type) method.Method {
	return method.Method{Name: name, Shape: shape, Params: reflect.TypeFor[P](), Result: result}
}

func boxes() []method.Method {
	return []method.Method{
		entry[BoxesPack]("boxes.pack", method.Plain, reflect.TypeFor[*Box]()),
		entry[BoxesCount]("boxes.count", method.Plain, reflect.TypeFor[[]Box]()),
		entry[BoxesAddress]("boxes.address", method.Inline, reflect.TypeFor[string]()),
		entry[BoxesOpen]("boxes.open", method.Wrapped, nil),
	}
}
