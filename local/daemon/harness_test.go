package daemon

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem/filesystemconnect"
	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process/processconnect"
)

// oneUser is a UserDB with the account that runs the tests.
type oneUser struct{ home string }

func (o oneUser) Lookup(name string) (User, error) {
	if name != "user" && name != "root" {
		return User{}, ErrUnknownUser
	}
	return User{Name: name, UID: os.Geteuid(), GID: os.Getegid(), Home: o.home}, nil
}
func (oneUser) NameOf(uid int) string       { return "uid" + strconv.Itoa(uid) }
func (oneUser) GroupOf(gid int) string      { return "gid" + strconv.Itoa(gid) }
func (oneUser) OwnerOf(User) (uid, gid int) { return -1, -1 }

// rig is a daemon behind a real server.
type rig struct {
	t      testing.TB
	d      *Daemon
	server *httptest.Server
	home   string
	proc   processconnect.ProcessClient
	files  filesystemconnect.FilesystemClient
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	require.NoError(t, os.Mkdir(home, 0o755))
	o := Options{SandboxID: "isandbox", TemplateID: "base", Users: oneUser{home}}
	for _, f := range change {
		f(&o)
	}
	d := New(o)
	server := httptest.NewServer(d.Handler())
	t.Cleanup(func() {
		d.Close()
		server.CloseClientConnections()
		server.Close()
	})
	return &rig{
		t: t, d: d, server: server, home: home,
		proc:  processconnect.NewProcessClient(server.Client(), server.URL),
		files: filesystemconnect.NewFilesystemClient(server.Client(), server.URL),
	}
}

func withToken(o *Options) { o.Token = "secret-token" }

// reply is a whole HTTP answer.
type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a raw request; header is a list of name, value pairs.
func (r *rig) do(method, path, body string, header ...string) reply {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, r.server.URL+path, strings.NewReader(body))
	require.NoError(r.t, err)
	request.Header.Set("Accept-Encoding", "identity")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := r.server.Client().Do(request)
	require.NoError(r.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	return reply{response.StatusCode, response.Header, string(content)}
}

// rpc makes a unary call in JSON.
func (r *rig) rpc(method, body string, header ...string) reply {
	r.t.Helper()
	return r.do(http.MethodPost, "/"+method, body, append([]string{"Content-Type", "application/json"}, header...)...)
}

// stream makes a server-stream call in JSON and returns its messages, the last
// being the end of the stream.
func (r *rig) stream(method, body string, header ...string) []string {
	r.t.Helper()
	answer := r.do(http.MethodPost, "/"+method, string(envelope(0, body)),
		append([]string{"Content-Type", "application/connect+json"}, header...)...)
	require.Equal(r.t, http.StatusOK, answer.status, answer.body)
	messages := openEnvelopes(r.t, []byte(answer.body))
	return messages
}

func envelope(flags byte, body string) []byte {
	head := make([]byte, 5, 5+len(body))
	head[0] = flags
	binary.BigEndian.PutUint32(head[1:], uint32(len(body)))
	return append(head, body...)
}

func openEnvelopes(t testing.TB, body []byte) []string {
	t.Helper()
	var messages []string
	for len(body) > 0 {
		require.GreaterOrEqual(t, len(body), 5)
		n := int(binary.BigEndian.Uint32(body[1:5]))
		require.GreaterOrEqual(t, len(body), 5+n)
		if body[0] == 2 {
			require.Len(t, body, 5+n, "nothing follows the end of a stream")
		}
		messages = append(messages, compact(t, body[5:5+n]))
		body = body[5+n:]
	}
	return messages
}

// compact takes out the random spaces of protobuf's JSON.
func compact(t testing.TB, message []byte) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, json.Compact(&out, message), string(message))
	return out.String()
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func shell(script string) string {
	quoted, _ := json.Marshal(script)
	return `{"process":{"cmd":"/bin/sh","args":["-c",` + string(quoted) + `]},"stdin":false}`
}

func codeOf(err error) string {
	var fault *connect.Error
	if errors.As(err, &fault) {
		return fault.Code().String()
	}
	return ""
}

func gunzip(t testing.TB, body string) string {
	t.Helper()
	zip, err := gzip.NewReader(strings.NewReader(body))
	require.NoError(t, err)
	content, err := io.ReadAll(zip)
	require.NoError(t, err)
	return string(content)
}
