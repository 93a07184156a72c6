package daemon

import (
	"errors"
	"regexp"
	"time"
)

// errUnwanted refuses a command whose caller has left.
var errUnwanted = errors.New("the command was killed before it started")

// keepUnwanted is how long a command may still be on its way.
const keepUnwanted = 30 * time.Second

// maxUnwanted bounds what is remembered.
const maxUnwanted = 8192

// unwanted remembers the tags of commands that were killed before they started: a
// caller that leaves at once sends a kill that can overtake the start. The zero
// value is empty.
type unwanted struct {
	since map[string]time.Time
	order []string // oldest first
}

// onceOnly are tags that name one command and no other: our clients make them. A
// tag of a user's own may be used again, and a later start of it is wanted.
var onceOnly = regexp.MustCompile(`^run-[0-9a-f]{24}$`)

func (u *unwanted) add(tag string) {
	if !onceOnly.MatchString(tag) {
		return
	}
	u.forget()
	if u.since == nil {
		u.since = map[string]time.Time{}
	}
	if _, known := u.since[tag]; !known {
		u.order = append(u.order, tag)
		u.since[tag] = time.Now()
	}
}

func (u *unwanted) has(tag *string) bool {
	if tag == nil {
		return false
	}
	_, yes := u.since[*tag]
	return yes
}

func (u *unwanted) forget() {
	n := 0
	for n < len(u.order) && (len(u.order)-n >= maxUnwanted || time.Since(u.since[u.order[n]]) > keepUnwanted) {
		delete(u.since, u.order[n])
		n++
	}
	u.order = append(u.order[:0], u.order[n:]...)
}
