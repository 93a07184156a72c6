//go:build linux

package local

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/guest"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// TestMain is also the first process of the sandboxes that the tests start: a
// server re-executes its own program.
func TestMain(m *testing.M) {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// newReal starts a server with real sandboxes, in the mode of whoever runs the
// tests.
func newReal(t *testing.T) (*client, *Server) {
	t.Helper()
	return newRealAt(t, t.TempDir())
}

func newRealAt(t *testing.T, stateDir string) (*client, *Server) {
	t.Helper()
	s, err := New(t.Context(), Options{StateDir: stateDir, Internet: true, APIKey: testKey})
	var refused *isolation.RefusedError
	if errors.As(err, &refused) {
		t.Skip("this machine refuses sandboxes:", refused)
	}
	require.NoError(t, err)
	return serving(t, s), s
}

// inside are the headers of traffic to a sandbox.
func (m made) inside(port int) []string {
	return []string{"E2b-Sandbox-Id", m.SandboxID, "E2b-Sandbox-Port", fmt.Sprint(port), "X-Access-Token", m.EnvdAccessToken, "X-API-Key", "-"}
}

// run runs a shell command and returns what it wrote to stdout.
func (c *client) run(m made, command string) string {
	c.t.Helper()
	out, err := c.tryRun(c.t.Context(), m, command)
	require.NoError(c.t, err)
	return out
}

func (c *client) tryRun(ctx context.Context, m made, command string) (string, error) {
	message, err := json.Marshal(map[string]any{"process": map[string]any{"cmd": "/bin/sh", "args": []string{"-c", command}}, "stdin": false})
	if err != nil {
		return "", err
	}
	body := string([]byte{0, 0, 0, byte(len(message) >> 8), byte(len(message))}) + string(message)
	a, err := c.try(ctx, "POST", "/process.Process/Start", body, append(m.inside(49983), "Content-Type", "application/connect+json")...)
	if err != nil {
		return "", err
	}
	if a.status != http.StatusOK {
		return "", fmt.Errorf("status %d: %s", a.status, a.body)
	}
	return stdout(a.body)
}

// stdout joins the stdout events of a Connect stream that ended well.
func stdout(stream string) (string, error) {
	var out []byte
	ended := false
	for len(stream) >= 5 {
		n := int(stream[1])<<24 | int(stream[2])<<16 | int(stream[3])<<8 | int(stream[4])
		var m struct {
			Event struct {
				Data *struct{ Stdout []byte }
				End  *struct{ Exited bool }
			}
		}
		if err := json.Unmarshal([]byte(stream[5:5+n]), &m); err != nil {
			return "", err
		}
		if m.Event.Data != nil {
			out = append(out, m.Event.Data.Stdout...)
		}
		ended = ended || m.Event.End != nil
		stream = stream[5+n:]
	}
	if !ended {
		return string(out), fmt.Errorf("no end event after %q", out)
	}
	return string(out), nil
}

func TestARealSandbox(t *testing.T) {
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base","envVars":{"GREETING":"hello"},"metadata":{"a":"b"}}`)
	require.Equal(t, 204, c.do("GET", "/health", "", m.inside(49983)...).status)
	require.Equal(t, "hello user\n", c.run(m, `echo $GREETING $(id -un)`))

	a := c.do("POST", "/files?path=/home/user/a%20b.txt&username=user", "some bytes", append(m.inside(49983), "Content-Type", "application/octet-stream")...)
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "some bytes", c.do("GET", "/files?path=/home/user/a%20b.txt&username=user", "", m.inside(49983)...).body)

	require.Equal(t, 401, c.do("POST", "/process.Process/List", "{}", append(m.inside(49983), "X-Access-Token", "wrong", "Content-Type", "application/json")...).status)
	require.Equal(t, 404, c.do("POST", "/init", "{}", m.inside(49983)...).status)

	var metrics []struct{ MemUsed, MemTotal, DiskTotal int64 }
	c.do("GET", "/sandboxes/"+m.SandboxID+"/metrics", "").into(t, &metrics)
	require.NotEmpty(t, metrics)
	require.Positive(t, metrics[0].MemTotal)

	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	require.Equal(t, 502, c.do("GET", "/health", "", m.inside(49983)...).status)
	require.Equal(t, 404, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
}

func TestSignedURLWithoutAnID(t *testing.T) {
	c, _ := newReal(t)
	one, two := c.create(`{"templateID":"base"}`), c.create(`{"templateID":"base"}`)
	for i, m := range []made{one, two} {
		c.run(m, fmt.Sprintf("echo %d > /home/user/who", i))
	}
	sign := func(token, expiry string) string {
		q := url.Values{"path": {"who"}, "username": {"user"}}
		text := "who:read:user:" + token
		if expiry != "" {
			text += ":" + expiry
			q.Set("signature_expiration", expiry)
		}
		sum := sha256.Sum256([]byte(text))
		q.Set("signature", "v1_"+base64.RawStdEncoding.EncodeToString(sum[:]))
		return "/files?" + q.Encode()
	}
	nobody := []string{"X-API-Key", "-"}
	require.Equal(t, "0\n", c.do("GET", sign(one.EnvdAccessToken, ""), "", nobody...).body)
	require.Equal(t, "1\n", c.do("GET", sign(two.EnvdAccessToken, fmt.Sprint(time.Now().Unix()+60)), "", nobody...).body)
	require.Equal(t, 401, c.do("GET", sign(two.EnvdAccessToken, "1"), "", nobody...).status, "expired")
	require.Equal(t, 401, c.do("GET", sign("someone else's", ""), "", nobody...).status)
}

func TestPortsOfARealSandbox(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	c, _ := newReal(t)
	m := c.create(`{"templateID":"python-base","network":{"allowPublicTraffic":false}}`)
	at := append(m.inside(8000), "E2b-Traffic-Access-Token", m.TrafficAccessToken)
	a := c.do("GET", "/", "", at...)
	require.Equal(t, 502, a.status)
	require.Contains(t, a.body, "port is not open")
	c.run(m, "mkdir -p /tmp/www; echo page > /tmp/www/x; cd /tmp/www; setsid python3 -m http.server --bind 127.0.0.1 8000 >/dev/null 2>&1 & ")
	require.Eventually(t, func() bool { return c.do("GET", "/x", "", at...).body == "page\n" }, 10*time.Second, 50*time.Millisecond)
	require.Equal(t, "page\n", c.do("GET", "/x", "", "Host", "8000-"+m.SandboxID+".localhost", "E2b-Traffic-Access-Token", m.TrafficAccessToken).body)
	require.Equal(t, 403, c.do("GET", "/x", "", m.inside(8000)...).status)
}

func TestPauseKeepsProcessesAndMemory(t *testing.T) {
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	c.run(m, `(i=0; while :; do i=$((i+1)); echo $i > /home/user/count; sleep 0.02; done) >/dev/null 2>&1 &`)
	count := func() string { return strings.TrimSpace(c.run(m, "cat /home/user/count")) }
	require.Eventually(t, func() bool { return count() > "0" }, 5*time.Second, 20*time.Millisecond)
	at := "/sandboxes/" + m.SandboxID
	require.Equal(t, 204, c.do("POST", at+"/pause", "").status)
	require.Equal(t, 409, c.do("POST", at+"/pause", "").status)
	require.Equal(t, 403, c.do("GET", "/files?path=count", "", m.inside(49983)...).status)
	time.Sleep(300 * time.Millisecond)
	require.Equal(t, 201, c.do("POST", "/v2"+at+"/connect", "").status)
	var before, after int
	_, err := fmt.Sscan(count(), &before)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := fmt.Sscan(count(), &after)
		return err == nil && after > before
	}, 5*time.Second, 20*time.Millisecond, "the loop goes on where it was")
}

func TestAPausedSandboxCanBeKilled(t *testing.T) {
	c, s := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	require.Equal(t, 204, c.do("POST", "/sandboxes/"+m.SandboxID+"/pause", "").status)
	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	require.Zero(t, s.fleet.Len())
}

func TestServersShareAStateDirectory(t *testing.T) {
	c, s := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	second, err := New(t.Context(), s.opt)
	require.NoError(t, err)
	c2 := serving(t, second)
	m2 := c2.create(`{"templateID":"base"}`)
	require.Equal(t, "one\n", c.run(m, "echo one"))
	require.Equal(t, "two\n", c2.run(m2, "echo two"))
	require.NoError(t, second.Close())
	require.Equal(t, "one\n", c.run(m, "echo one"))
}

func TestTheNetworkOfARealSandboxChangesWhileItRuns(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("needs curl")
	}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("host")) }))
	defer host.Close()
	_, port, err := net.SplitHostPort(host.Listener.Addr().String())
	require.NoError(t, err)
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	// 10.0.2.2 is the host's loopback, for those whose rules name it.
	reach := func() string { return c.run(m, "curl -s -m 5 http://10.0.2.2:"+port+"/ || echo refused") }
	update := func(body string) {
		t.Helper()
		a := c.do("PUT", "/sandboxes/"+m.SandboxID+"/network", body)
		require.Equal(t, 204, a.status, a.body)
	}
	require.Equal(t, "refused\n", reach())
	update(`{"allowOut":["127.0.0.1"]}`)
	require.Equal(t, "host", reach())
	update(`{}`)
	require.Equal(t, "refused\n", reach())

	off := c.create(`{"templateID":"base","allow_internet_access":false}`)
	require.Empty(t, c.run(off, "ip -4 route 2>/dev/null | grep default"))
}

func TestADeepStateDirectoryWorks(t *testing.T) {
	c, _ := newRealAt(t, filepath.Join(t.TempDir(), strings.Repeat("d", 120)))
	m := c.create(`{"templateID":"base"}`)
	require.Contains(t, c.run(m, "getent hosts localhost; echo ok"), "ok")
	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
}

func TestLifeOfARealSandboxEnds(t *testing.T) {
	c, _ := newReal(t)
	killed := c.create(`{"templateID":"base","timeout":1}`)
	paused := c.create(`{"templateID":"base","timeout":1,"autoPause":true,"autoResume":{"enabled":true}}`)
	require.Eventually(t, func() bool {
		return strings.Contains(c.do("GET", "/sandboxes/"+paused.SandboxID, "").body, `"state":"paused"`)
	}, 5*time.Second, 20*time.Millisecond)
	require.Eventually(t, func() bool { return c.do("GET", "/sandboxes/"+killed.SandboxID, "").status == 404 }, 5*time.Second, 20*time.Millisecond)
	require.Contains(t, c.do("GET", "/sandboxes/"+killed.SandboxID, "").body, "its lifetime ended")
	require.Equal(t, "woken\n", c.run(paused, "echo woken"))
}

func TestAKillCutsAStream(t *testing.T) {
	c, _ := newReal(t)
	m := c.create(`{"templateID":"base"}`)
	ended := make(chan error, 1)
	go func() {
		_, err := c.tryRun(context.Background(), m, "echo started; sleep 60")
		ended <- err
	}()
	require.Eventually(t, func() bool {
		return strings.Contains(c.do("POST", "/process.Process/List", "{}", append(m.inside(49983), "Content-Type", "application/json")...).body, "sleep 60")
	}, 5*time.Second, 20*time.Millisecond)
	require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	select {
	case err := <-ended:
		require.Error(t, err, "a cut stream never looks like a clean end")
	case <-time.After(5 * time.Second):
		t.Fatal("the stream did not end with its sandbox")
	}
}

func TestADaemonThatDiesTakesOnlyItsSandbox(t *testing.T) {
	c, s := newReal(t)
	victim, other := c.create(`{"templateID":"base"}`), c.create(`{"templateID":"base"}`)
	require.NoError(t, s.members.get(victim.SandboxID).Box().Kill())
	require.Eventually(t, func() bool { return c.do("GET", "/sandboxes/"+victim.SandboxID, "").status == 404 }, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, "fine\n", c.run(other, "echo fine"))
}

func TestManySandboxesAndCommandsDoNotMix(t *testing.T) {
	c, _ := newReal(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			m := c.create(`{"templateID":"base"}`)
			for j := range 5 {
				want := fmt.Sprintf("%s-%d-%d\n", m.SandboxID, i, j)
				out, err := c.tryRun(context.Background(), m, "echo "+want)
				if err != nil || out != want {
					t.Errorf("got %q, %v; want %q", out, err, want)
				}
			}
		})
	}
	all.Wait()
}

func TestNothingOfAServerIsLeft(t *testing.T) {
	c, s := newReal(t)
	goroutines := runtime.NumGoroutine()
	for range 5 {
		m := c.create(`{"templateID":"base"}`)
		c.run(m, "setsid sleep 1000 >/dev/null 2>&1 & ")
		require.Equal(t, 204, c.do("DELETE", "/sandboxes/"+m.SandboxID, "").status)
	}
	for range 3 {
		c.create(`{"templateID":"base"}`)
	}
	require.NoError(t, s.Close())
	require.NotContains(t, mounts(t), s.opt.StateDir)
	require.NoDirExists(t, s.sockets.dir)
	c.http.CloseIdleConnections()
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines }, 5*time.Second, 20*time.Millisecond)
}

func mounts(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return string(text)
}

func TestWebSocketStyleUpgradeIntoARealSandbox(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("needs python3")
	}
	c, _ := newReal(t)
	m := c.create(`{"templateID":"python-base"}`)
	server := `import socket
s=socket.socket();s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1);s.bind(("127.0.0.1",7000));s.listen()
c,_=s.accept()
while b"\r\n\r\n" not in c.recv(65536): pass
c.sendall(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
while True:
    d=c.recv(65536)
    if not d: break
    c.sendall(d.upper())
`
	require.Equal(t, 200, c.do("POST", "/files?path=/tmp/s.py&username=user", server, append(m.inside(49983), "Content-Type", "application/octet-stream")...).status)
	c.run(m, "setsid python3 /tmp/s.py >/dev/null 2>&1 &")
	require.Eventually(t, func() bool {
		return strings.Contains(c.run(m, "cat /proc/net/tcp"), ":1B58 ")
	}, 10*time.Second, 50*time.Millisecond)
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: 7000-%s.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n", m.SandboxID)
	require.NoError(t, err)
	answer := bufio.NewReader(conn)
	resp, err := http.ReadResponse(answer, nil)
	require.NoError(t, err)
	require.Equal(t, 101, resp.StatusCode)
	_, err = conn.Write([]byte("ping\n"))
	require.NoError(t, err)
	line, err := answer.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "PING\n", line)
}
