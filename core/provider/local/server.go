package local

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/digest"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/transport"
)

// StateSchema is the version of a server's state file. Another one is refused by
// name.
const StateSchema = 1

// State is what a host needs to know of a server's state file. It holds the
// server's key.
type State struct {
	Schema     int    `json:"schema"`
	PID        int    `json:"pid"`
	Version    string `json:"version"`
	URL        string `json:"url"`
	SandboxURL string `json:"sandbox_url"`
	APIKey     string `json:"api_key"`
}

// String shows no secret.
func (s State) String() string { return "State(url=" + s.URL + ")" }

// GoString keeps the key out of %#v.
func (s State) GoString() string { return s.String() }

// aliveClock bounds the question whether a server lives. A dead one is refused at
// once; one on an overloaded machine must not be taken for dead, or there are two.
const aliveClock = 10 * time.Second

// Check gives what the text of a state file says when its server lives; nil when
// there is none. Errors: E5001 when it lives and is of another generation, and
// the end of ctx.
func Check(ctx context.Context, host transport.Host, text []byte) (*State, error) {
	var s State
	if json.Unmarshal(text, &s) != nil || s.URL == "" || s.APIKey == "" {
		return nil, nil
	}
	alive := s.alive(ctx, host)
	switch {
	case ctx.Err() != nil:
		return nil, connect.Cancelled(ctx)
	case !alive:
		return nil, nil
	}
	return &s, s.Supported()
}

// Supported is E5001 when a live server is of another generation.
func (s *State) Supported() error {
	if s.Schema == StateSchema {
		return nil
	}
	return fault.New(fault.CodeConnectFailed, "the running local server (version %s, pid %d) is of another generation than this client", s.Version, s.PID).
		Suggest("stop it with: kill %d", s.PID)
}

// alive asks the server to prove that it knows its key: a squatter on the port
// learns nothing from the question.
func (s *State) alive(ctx context.Context, host transport.Host) bool {
	limited, _, disarm := host.Limit(ctx, transport.ClockRequest, aliveClock)
	defer disarm()
	var random [16]byte
	host.Rand(random[:])
	challenge := hex.EncodeToString(random[:])
	resp, err := host.Do(limited, &transport.Request{Method: "GET", URL: s.URL + "/health", Header: transport.Header{{"x-challenge", challenge}}})
	if err != nil {
		return false
	}
	resp.Body.Close()
	expected := digest.HMAC([]byte(s.APIKey), []byte(challenge))
	proof, err := hex.DecodeString(resp.Header.Get("x-proof"))
	return err == nil && resp.Status == 204 && digest.Equal(proof, expected[:])
}
