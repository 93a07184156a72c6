package instance_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/native"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
	"github.com/agent-sandbox/agent-sandbox/wasm/instance"
)

// served is a host on the artifact with a peer that answers GET /sandboxes/ID,
// but that of "hang".
type served struct {
	*testing.T
	host    *host.Host
	client  json.RawMessage
	made    int
	hanging sync.WaitGroup
}

func serve(t *testing.T) *served {
	s := &served{T: t}
	gone := make(chan struct{})
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sandboxes/hang" {
			s.hanging.Done()
			select {
			case <-r.Context().Done():
			case <-gone:
			}
			return
		}
		w.Header().Set("content-type", "application/json")
		_, _ = w.Write([]byte(`{"sandboxID":"i1","templateID":"t","state":"running"}`))
	}))
	net, err := native.NewHost(native.HostOptions{Proxy: "direct", StoreDir: t.TempDir()})
	require.NoError(t, err)
	s.host = host.New(net, host.Options{Machine: func() (host.Machine, error) {
		s.made++
		return artifact.Machine(instance.World{})
	}})
	s.client, err = json.Marshal(map[string]any{"arguments": map[string]any{"provider": "e2b", "api_key": "e2b_0", "api_url": peer.URL, "retries": 0}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.host.Close())
		require.NoError(t, net.Close())
		close(gone)
		peer.Close()
	})
	return s
}

func (s *served) do(method, sandbox string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := s.host.Do(ctx, host.Call{Method: method, Client: s.client, Params: map[string]any{"sandbox_id": sandbox}})
	return err
}

// hang begins calls that get no answer.
func (s *served) hang(n int) chan error {
	ended := make(chan error, n)
	s.hanging.Add(n)
	for range n {
		go func() { ended <- s.do("sandbox.get_info", "hang") }()
	}
	s.hanging.Wait()
	return ended
}

func code(err error) string {
	var f *host.Failure
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

func TestATrapEndsWhatIsLiveAndTheNextCallWorks(t *testing.T) {
	s := serve(t)
	const live = 10
	ended := s.hang(live)
	require.Equal(t, "E9000", code(s.do("test.trap", "")))
	for range live {
		require.Equal(t, "E9000", code(<-ended))
	}
	require.NoError(t, s.do("sandbox.get_info", "i1"))
	require.Equal(t, 2, s.made)
}

func TestAPanicIsItsOwnOperations(t *testing.T) {
	s := serve(t)
	ended := s.hang(1)
	require.Equal(t, "E9000", code(s.do("test.panic", "")))
	require.NoError(t, s.do("sandbox.get_info", "i1"))
	require.Equal(t, 1, s.made, "the instance is still the first")
	select {
	case err := <-ended:
		require.Fail(t, "another operation ended", "%v", err)
	default:
	}
}

func TestAMistakeOfTheHostSettlesNobody(t *testing.T) {
	w, _ := instanceOf(t, 1)
	for _, in := range [][]byte{{1}, make([]byte, 16), []byte("nonsense that is longer than a frame's head")} {
		out, err := w.m.Run(in)
		require.NoError(t, err)
		require.NotEmpty(t, out)
	}
	o := &op{kind: "stat", token: "a"}
	w.call(o, "files.get_info", map[string]any{"path": "/a"}, nil)
	w.run()
	for w.step() {
	}
	require.Equal(t, "a", field(o, "name"))
}
