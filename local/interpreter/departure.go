package interpreter

import (
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

// departureGrace is how long a kernel that said it leaves may take: what it does
// at its exit is the code's own.
const departureGrace = 3 * time.Second

var errOverdue error = &deathError{reason: "the kernel did not end after exit()"}

// leaving tells whether the kernel answers that the code told it to end, as exit()
// and quit() do in IPython. It still answers for a moment, and what it would be
// asked then would be lost with it.
func leaving(m *jupyter.Message) bool {
	var r struct {
		Payload []struct {
			Source string          `json:"source"`
			Keep   json.RawMessage `json:"keepkernel"`
		} `json:"payload"`
	}
	if m == nil || m.Decode(&r) != nil {
		return false
	}
	for _, p := range r.Payload {
		if p.Source == "ask_exit" && string(p.Keep) != "true" {
			return true
		}
	}
	return false
}

// depart waits until a leaving kernel is gone; one that does not go is ended.
func (k *kernel) depart() {
	select {
	case <-k.exited:
	case <-time.After(departureGrace):
		k.end(errOverdue)
	}
	<-k.dead
}
