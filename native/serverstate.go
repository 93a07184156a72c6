package native

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/provider/local"
)

// StateSchema is the version of server.json. Another one is refused by name.
const StateSchema = local.StateSchema

// ServerInfo is the state file of a local server (design: one lookup, the same
// in all hosts). It holds the server's key: mode 0600.
type ServerInfo struct {
	Schema     int       `json:"schema"`
	Build      string    `json:"build"` // development builds reuse only their own
	PID        int       `json:"pid"`
	StartTime  time.Time `json:"start_time"`
	Version    string    `json:"version"`
	URL        string    `json:"url"`
	SandboxURL string    `json:"sandbox_url"`
	APIKey     string    `json:"api_key"`
}

// String shows no secret.
func (s ServerInfo) String() string { return "ServerInfo(url=" + s.URL + ")" }

// GoString keeps the key out of %#v.
func (s ServerInfo) GoString() string { return s.String() }

// StatePath is where a server of a build keeps its state file. Development
// builds have one each.
func StatePath(getenv func(string) string, build string) string {
	name := "server.json"
	if build != "" {
		name = "server-" + build + ".json"
	}
	return filepath.Join(StateDir(getenv), name)
}

// ReadState reads a state file; nil when there is none that can be read.
func ReadState(path string) *ServerInfo {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var s ServerInfo
	if json.Unmarshal(b, &s) != nil || s.URL == "" {
		return nil
	}
	return &s
}

// WriteState replaces a state file.
func WriteState(path string, s ServerInfo) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeAtomically(path, b)
}

// LockState holds the right to start a server, among all processes.
func LockState(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return lockFile(ctx, path+".lock")
}

// aliveClock bounds the question whether a server lives. A dead one is refused at
// once; one on an overloaded machine must not be taken for dead, or there are two.
const aliveClock = 10 * time.Second

// Alive asks the server to prove that it knows its key: a squatter on the port
// learns nothing from the question.
func (s *ServerInfo) Alive(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, aliveClock)
	defer cancel()
	challenge := rand.Text()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/health", nil)
	if err != nil {
		return false
	}
	req.Header.Set("X-Challenge", challenge)
	t := &http.Transport{DisableKeepAlives: true} // loopback: no proxy
	resp, err := t.RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	mac := hmac.New(sha256.New, []byte(s.APIKey))
	mac.Write([]byte(challenge))
	proof, err := hex.DecodeString(resp.Header.Get("X-Proof"))
	return err == nil && resp.StatusCode == http.StatusNoContent && hmac.Equal(proof, mac.Sum(nil))
}
