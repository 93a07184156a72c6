package daemon

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These are the rows of e2b.md 3.7, one test each.

func basic(user string) []string {
	return []string{"Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"))}
}

func TestPreflightIsAnsweredBeforeTheTokenIsAsked(t *testing.T) {
	r := newRig(t, withToken)
	got := r.do("OPTIONS", "/process.Process/Start", "", "Origin", "https://page.example",
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type,x-access-token")
	require.Equal(t, 204, got.status)
	require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "POST", got.header.Get("Access-Control-Allow-Methods"))
	require.Equal(t, "content-type,x-access-token", got.header.Get("Access-Control-Allow-Headers"))
	require.Equal(t, "7200", got.header.Get("Access-Control-Max-Age"))
	require.Empty(t, got.header.Get("Access-Control-Allow-Credentials"))
}

func TestSimpleAnswersExposeEnvdsHeaders(t *testing.T) {
	got := newRig(t).do("GET", "/health", "", "Origin", "https://page.example")
	require.Equal(t, 204, got.status)
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin, Location, Cache-Control, X-Content-Type-Options",
		got.header.Get("Access-Control-Expose-Headers"))
}

func TestUnknownRoutesAreNotFound(t *testing.T) {
	r := newRig(t)
	for _, path := range []string{"/nope", "/process.Process/Nope", "/freeze", "/upgrade"} {
		got := r.do("POST", path, "{}", "Content-Type", "application/json")
		require.Equal(t, 404, got.status, path)
		require.Equal(t, "404 page not found\n", got.body, path)
		require.True(t, strings.HasPrefix(got.header.Get("Content-Type"), "text/plain"), path)
	}
}

func TestRPCRefusesOtherContentTypesAndMethods(t *testing.T) {
	r := newRig(t)
	got := r.do("POST", "/process.Process/List", "{}", "Content-Type", "text/plain")
	require.Equal(t, 415, got.status)
	require.Empty(t, got.body)
	require.Contains(t, got.header.Get("Accept-Post"), "application/json")
	got = r.do("GET", "/process.Process/List", "")
	require.Equal(t, 405, got.status)
	require.Equal(t, "POST", got.header.Get("Allow"))
}

func TestRPCMessages(t *testing.T) {
	r := newRig(t)
	missing := filepath.Join(r.home, "missing")
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "file"), nil, 0o644))
	for _, c := range []struct {
		name, method, body string
		header             []string
		status             int
		want               string
	}{
		{"malformed JSON", "process.Process/List", `{"a":`, nil, 400, `{"code":"invalid_argument","message":"unmarshal message: `},
		{"unknown field", "process.Process/List", `{"nope":1}`, nil, 200, `{}`},
		{"list of nothing", "process.Process/List", `{}`, nil, 200, `{}`},
		{"stat missing", "filesystem.Filesystem/Stat", `{"path":"missing"}`, nil, 404, `{"code":"not_found","message":"file not found: lstat ` + missing + `: no such file or directory"}`},
		{"bad user", "filesystem.Filesystem/Stat", `{"path":"/"}`, basic("nope"), 401, `{"code":"unauthenticated","message":"invalid username: 'nope'"}`},
		{"other home", "filesystem.Filesystem/Stat", `{"path":"~nobody/x"}`, nil, 400, `{"code":"invalid_argument"`},
		{"NUL in a path", "filesystem.Filesystem/Stat", `{"path":"/a\u0000b"}`, nil, 400, `{"code":"invalid_argument","message":"path contains a NUL byte"}`},
		{"make existing directory", "filesystem.Filesystem/MakeDir", `{"path":"` + r.home + `"}`, nil, 409, `{"code":"already_exists","message":"directory already exists: ` + r.home + `"}`},
		{"make directory on a file", "filesystem.Filesystem/MakeDir", `{"path":"file"}`, nil, 400, `{"code":"invalid_argument"`},
		{"make directory below a file", "filesystem.Filesystem/MakeDir", `{"path":"file/x"}`, nil, 400, `{"code":"invalid_argument"`},
		{"remove missing", "filesystem.Filesystem/Remove", `{"path":"missing"}`, nil, 200, `{}`},
		{"move missing", "filesystem.Filesystem/Move", `{"source":"missing","destination":"b"}`, nil, 404, `{"code":"not_found"`},
		{"list missing", "filesystem.Filesystem/ListDir", `{"path":"missing"}`, nil, 404, `{"code":"not_found"`},
		{"list a file", "filesystem.Filesystem/ListDir", `{"path":"file"}`, nil, 400, `{"code":"invalid_argument"`},
		{"no selector", "process.Process/SendSignal", `{"signal":"SIGNAL_SIGKILL"}`, nil, 501, `{"code":"unimplemented","message":"invalid input type *process.ProcessSelector"}`},
		{"dead pid", "process.Process/SendSignal", `{"process":{"pid":999},"signal":"SIGNAL_SIGKILL"}`, nil, 404, `{"code":"not_found","message":"process with pid 999 not found"}`},
		{"dead tag", "process.Process/SendInput", `{"process":{"tag":"T1"},"input":{"stdin":"YQ=="}}`, nil, 404, `{"code":"not_found","message":"process with tag T1 not found"}`},
		{"unknown watcher", "filesystem.Filesystem/GetWatcherEvents", `{"watcherId":"w1"}`, nil, 404, `{"code":"not_found"`},
		{"remove unknown watcher", "filesystem.Filesystem/RemoveWatcher", `{"watcherId":"w1"}`, nil, 404, `{"code":"not_found"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := r.rpc(c.method, c.body, c.header...)
			require.Equal(t, c.status, got.status, got.body)
			require.True(t, strings.HasPrefix(compact(t, []byte(got.body)), c.want), got.body)
		})
	}
}

func TestStreamsFailInTheirOnlyMessage(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "file"), nil, 0o644))
	cwd := `{"process":{"cmd":"/bin/true","cwd":"/no/such"},"stdin":false}`
	for name, c := range map[string]struct {
		method, body string
		header       []string
		want         string
	}{
		"bad cwd":         {"process.Process/Start", cwd, nil, `{"error":{"code":"invalid_argument","message":"cwd '/no/such' does not exist"}}`},
		"bad user":        {"process.Process/Start", shell("true"), basic("nope"), `{"error":{"code":"unauthenticated","message":"invalid username: 'nope'"}}`},
		"bad pid":         {"process.Process/Connect", `{"process":{"pid":4000000}}`, nil, `{"error":{"code":"not_found","message":"process with pid 4000000 not found"}}`},
		"watch missing":   {"filesystem.Filesystem/WatchDir", `{"path":"/no/such"}`, nil, `{"error":{"code":"not_found"`},
		"watch a file":    {"filesystem.Filesystem/WatchDir", `{"path":"file"}`, nil, `{"error":{"code":"invalid_argument"`},
		"NUL in argument": {"process.Process/Start", `{"process":{"cmd":"echo","args":["a\u0000b"]}}`, nil, `{"error":{"code":"invalid_argument","message":"argument contains a NUL byte"}}`},
		"bad variable":    {"process.Process/Start", `{"process":{"cmd":"echo","envs":{"A=B":"c"}}}`, nil, `{"error":{"code":"invalid_argument"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.stream(c.method, c.body, c.header...)
			require.Len(t, got, 1)
			require.True(t, strings.HasPrefix(got[0], c.want), got[0])
		})
	}
}

func TestStatDescribesAFile(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(r.home, "a.txt")
	require.NoError(t, os.WriteFile(path, []byte("hello\n"), 0o644))
	when := time.Unix(1700000000, 123456000)
	require.NoError(t, os.Chtimes(path, when, when))
	got := r.rpc("filesystem.Filesystem/Stat", `{"path":"a.txt"}`)
	require.JSONEq(t, `{"entry":{"name":"a.txt","type":"FILE_TYPE_FILE","path":"`+path+`","size":"6","mode":420,
		"permissions":"-rw-r--r--","owner":"uid`+strconv.Itoa(os.Geteuid())+`","group":"gid`+strconv.Itoa(os.Getegid())+`",
		"modifiedTime":"2023-11-14T22:13:20.123456Z"}}`, got.body)
}

func TestUploadAnswersAsTextAndEmptyListForOtherParts(t *testing.T) {
	r := newRig(t)
	got := r.do("POST", "/files?path=d/a.txt", "content", "Content-Type", "application/octet-stream", "X-Metadata-Author", "Me")
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	path := filepath.Join(r.home, "d", "a.txt")
	require.Equal(t, `[{"metadata":{"author":"Me"},"name":"a.txt","path":"`+path+`","type":"file"}]`, got.body)
	require.Contains(t, r.rpc("filesystem.Filesystem/Stat", `{"path":"d/a.txt"}`).body, `"author"`)

	body := "--B\r\nContent-Disposition: form-data; name=\"other\"; filename=\"x\"\r\n\r\nhi\r\n--B--\r\n"
	got = r.do("POST", "/files", body, "Content-Type", "multipart/form-data; boundary=B")
	require.Equal(t, 200, got.status)
	require.Equal(t, "[]", got.body)
}

func TestDownloadHeadersRangesAndGzip(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "a.txt"), []byte("0123456789"), 0o644))
	got := r.do("GET", "/files?path=a.txt", "")
	require.Equal(t, 200, got.status)
	require.Equal(t, "0123456789", got.body)
	require.Equal(t, "bytes", got.header.Get("Accept-Ranges"))
	require.Equal(t, "inline; filename=a.txt", got.header.Get("Content-Disposition"))
	require.Contains(t, got.header.Values("Vary"), "Accept-Encoding")
	require.Equal(t, "text/plain; charset=utf-8", got.header.Get("Content-Type"))
	require.Equal(t, "10", got.header.Get("Content-Length"))

	got = r.do("GET", "/files?path=a.txt", "", "Range", "bytes=2-4", "Accept-Encoding", "gzip")
	require.Equal(t, 206, got.status)
	require.Equal(t, "234", got.body)
	require.Equal(t, "bytes 2-4/10", got.header.Get("Content-Range"))

	got = r.do("GET", "/files?path=a.txt", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	require.Empty(t, got.header.Get("Content-Length"))
	require.Equal(t, "0123456789", gunzip(t, got.body))
}

func TestFileRefusals(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "a.txt"), nil, 0o644))
	octets := []string{"Content-Type", "application/octet-stream"}
	for name, c := range map[string]struct {
		method, path string
		header       []string
		status       int
		message      string
	}{
		"missing":            {"GET", "/files?path=nope", nil, 404, "path '" + r.home + "/nope' does not exist"},
		"directory":          {"GET", "/files?path=" + r.home, nil, 400, "path '" + r.home + "' is a directory"},
		"unknown user":       {"GET", "/files?path=a.txt&username=nope", nil, 401, "invalid username: 'nope'"},
		"no encoding":        {"GET", "/files?path=a.txt", []string{"Accept-Encoding", "identity;q=0, gzip;q=0"}, 406, ""},
		"NUL":                {"GET", "/files?path=a%00b", nil, 400, "path contains a NUL byte"},
		"other type":         {"POST", "/files?path=x", []string{"Content-Type", "text/html"}, 400, ""},
		"no path":            {"POST", "/files", octets, 400, ""},
		"write to directory": {"POST", "/files?path=" + r.home, octets, 400, ""},
		"below a file":       {"POST", "/files?path=a.txt/b", octets, 400, ""},
		"odd metadata":       {"POST", "/files?path=x", append([]string{"X-Metadata-A", "sn\u00f6"}, octets...), 400, ""},
		"long metadata":      {"POST", "/files?path=x", append([]string{"X-Metadata-A", strings.Repeat("a", 4096)}, octets...), 400, ""},
		"bad encoding":       {"POST", "/files?path=x", append([]string{"Content-Encoding", "br"}, octets...), 400, ""},
		"bad gzip":           {"POST", "/files?path=x", append([]string{"Content-Encoding", "gzip"}, octets...), 400, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := r.do(c.method, c.path, "body", c.header...)
			require.Equal(t, c.status, got.status, got.body)
			require.Equal(t, "application/json; charset=utf-8", got.header.Get("Content-Type"))
			require.Contains(t, got.body, `"code":`+strconv.Itoa(c.status))
			require.Contains(t, got.body, c.message)
		})
	}
}

func TestDeadlineEndsTheStreamWithoutAnEndEvent(t *testing.T) {
	r := newRig(t)
	begun := time.Now()
	got := r.stream("process.Process/Start", shell("echo before; sleep 5 & wait"), "Connect-Timeout-Ms", "1000")
	require.Less(t, time.Since(begun), 4*time.Second)
	require.Equal(t, `{"event":{"data":{"stdout":"`+b64("before\n")+`"}}}`, got[1])
	require.Equal(t, `{"error":{"code":"deadline_exceeded","message":"context deadline exceeded"}}`, got[2])
}

func TestKeepaliveComesWhenThereIsNoOutput(t *testing.T) {
	got := newRig(t).stream("process.Process/Start", shell("sleep 2.7"), "Keepalive-Ping-Interval", "1")
	require.Equal(t, []string{`{"event":{"keepalive":{}}}`, `{"event":{"keepalive":{}}}`}, got[1:3])
	require.Len(t, got, 5)
}

func TestTerminalHasItsSizeAndCRLF(t *testing.T) {
	got := newRig(t).stream("process.Process/Start", `{"process":{"cmd":"stty","args":["size"]},"pty":{"size":{"cols":91,"rows":33}}}`)
	require.Equal(t, `{"event":{"data":{"pty":"`+b64("33 91\r\n")+`"}}}`, got[1])
	require.Equal(t, `{"event":{"end":{"exited":true,"status":"exit status 0"}}}`, got[2])
}

func TestUnexecutableCommandsEndLikeInAShell(t *testing.T) {
	r := newRig(t)
	script := filepath.Join(r.home, "noexec")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o644))
	for cmd, want := range map[string][2]string{
		"/no/such":  {"/no/such: No such file or directory\n", "127"},
		"no-such":   {"no-such: command not found\n", "127"},
		script:      {script + ": Permission denied\n", "126"},
		r.home:      {r.home + ": Permission denied\n", "126"},
		"/bin/sh/x": {"/bin/sh/x: Not a directory\n", "126"},
	} {
		got := r.stream("process.Process/Start", `{"process":{"cmd":"`+cmd+`"},"tag":"T"}`)
		require.Equal(t, `{"event":{"data":{"stderr":"`+b64(want[0])+`"}}}`, got[1])
		require.Equal(t, `{"event":{"end":{"exitCode":`+want[1]+`,"exited":true,"status":"exit status `+want[1]+`","error":"exit status `+want[1]+`"}}}`, got[2])
	}
}

func TestScriptWithoutInterpreterRunsInTheShell(t *testing.T) {
	r := newRig(t)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "s"), []byte("echo got $1\n"), 0o755))
	got := r.stream("process.Process/Start", `{"process":{"cmd":"./s","args":["one"]}}`)
	require.Equal(t, `{"event":{"data":{"stdout":"`+b64("got one\n")+`"}}}`, got[1])
}

func TestConnectAfterTheEndGetsStartAndEnd(t *testing.T) {
	r := newRig(t)
	body := strings.Replace(shell("echo gone; exit 4"), `"stdin"`, `"tag":"T1","stdin"`, 1)
	first := r.stream("process.Process/Start", body)
	again := r.stream("process.Process/Connect", `{"process":{"tag":"T1"}}`)
	require.Equal(t, []string{first[0], first[2], `{}`}, again)
	got := r.rpc("process.Process/SendInput", `{"process":{"tag":"T1"},"input":{"stdin":"YQ=="}}`)
	require.Equal(t, 404, got.status)
	require.Contains(t, got.body, "process with tag T1 not found")
}

func TestTokenIsAskedOnAllRoutesButSelfChecking(t *testing.T) {
	r := newRig(t, withToken)
	for _, path := range []string{"/process.Process/List", "/process.Process/Start", "/files/compose", "/nope"} {
		for _, token := range []string{"", "wrong"} {
			got := r.do("POST", path, "{}", "Content-Type", "application/json", "X-Access-Token", token)
			require.Equal(t, 401, got.status, path)
			require.Equal(t, `{"code":401,"message":"unauthorized access, please provide a valid access token or method signing if supported"}`, got.body)
		}
	}
	require.Equal(t, 401, r.do("GET", "/envs", "").status)
	require.Equal(t, 401, r.do("GET", "/metrics", "").status)
	require.Equal(t, 204, r.do("GET", "/health", "").status)
	require.Equal(t, 200, r.rpc("process.Process/List", `{}`, "X-Access-Token", "secret-token").status)
}

func TestFileSignatures(t *testing.T) {
	r := newRig(t, withToken)
	require.NoError(t, os.WriteFile(filepath.Join(r.home, "a b.txt"), []byte("hi"), 0o644))
	future, past := strconv.FormatInt(time.Now().Unix()+60, 10), strconv.FormatInt(time.Now().Unix()-5, 10)
	get := func(signature, expiry string, header ...string) reply {
		query := url.Values{"path": {"a b.txt"}, "username": {"user"}}
		if signature != "" {
			query.Set("signature", signature)
		}
		if expiry != "" {
			query.Set("signature_expiration", expiry)
		}
		return r.do("GET", "/files?"+query.Encode(), "", header...)
	}
	sign := func(operation, expiry string) string {
		return signature("a b.txt", operation, "user", "secret-token", expiry)
	}
	require.Equal(t, 200, get(sign("read", ""), "").status)
	require.Equal(t, 200, get(sign("read", future), future).status)
	require.Equal(t, 200, get("", "", "X-Access-Token", "secret-token").status)
	for text, got := range map[string]reply{
		textSignatureMissing: get("", ""),
		textTokenMismatch:    get(sign("read", ""), "", "X-Access-Token", "wrong"),
		textSignatureBad:     get(sign("write", ""), ""),
		textSignatureExpired: get(sign("read", past), past),
	} {
		require.Equal(t, 401, got.status, text)
		require.Equal(t, `{"code":401,"message":"`+text+`"}`, got.body)
	}
}

func TestSignatureIsTheSDKs(t *testing.T) {
	require.Equal(t, "v1_2/gNbgFPxFSqkheS/SD0NHlzA121E/nxkOtc/ovxeoI", signature("/a", "read", "", "tok", ""))
	require.Equal(t, "v1_E6qRelHsBeaLXtLQOTkvgPZAB657mcGpde3aVSO1ImQ", signature("/ä b", "write", "root", "tok", "1700000000"))
}

func TestInitNeedsTheTokenAndReplacesDefaults(t *testing.T) {
	r := newRig(t)
	work := t.TempDir()
	got := r.do("POST", "/init", `{"accessToken":"T","envVars":{"A":"b"},"defaultWorkdir":"`+work+`","timestamp":"2026-01-02T00:00:00Z"}`)
	require.Equal(t, 204, got.status)
	require.Equal(t, Version, got.header.Get("X-Envd-Version"))
	require.Equal(t, 401, r.rpc("process.Process/List", `{}`).status)
	require.Equal(t, 401, r.do("POST", "/init", `{}`).status)
	require.Contains(t, r.do("POST", "/init", `{}`).body, "access token reset not authorized")
	require.Equal(t, 401, r.do("POST", "/init", `{"accessToken":"other"}`).status)

	token := []string{"X-Access-Token", "T"}
	out := r.stream("process.Process/Start", shell(`echo $PWD $A $E2B_SANDBOX $E2B_SANDBOX_ID $E2B_TEMPLATE_ID`), token...)
	require.Equal(t, `{"event":{"data":{"stdout":"`+b64(work+" b true isandbox base\n")+`"}}}`, out[1])
	up := r.do("POST", "/files?path=rel.txt", "x", append([]string{"Content-Type", "application/octet-stream"}, token...)...)
	require.Contains(t, up.body, filepath.Join(r.home, "rel.txt"))

	require.Equal(t, 204, r.do("POST", "/init", `{"accessToken":"T","envVars":{"A":"old"},"timestamp":"2026-01-01T00:00:00Z"}`).status)
	require.JSONEq(t, `{"A":"b","E2B_SANDBOX":"true","E2B_SANDBOX_ID":"isandbox","E2B_TEMPLATE_ID":"base"}`, r.do("GET", "/envs", "", token...).body)
	require.Equal(t, 204, r.do("POST", "/init", `{"envVars":{"C":"d"}}`, token...).status)
	require.JSONEq(t, `{"C":"d","E2B_SANDBOX":"true","E2B_SANDBOX_ID":"isandbox","E2B_TEMPLATE_ID":"base"}`, r.do("GET", "/envs", "", token...).body)
}

func TestMetricsHaveAllFields(t *testing.T) {
	got := newRig(t).do(http.MethodGet, "/metrics", "")
	require.Equal(t, 200, got.status)
	for _, field := range []string{"ts", "cpu_count", "cpu_used_pct", "mem_total", "mem_used", "mem_cache", "mem_total_mib", "mem_used_mib", "disk_used", "disk_total"} {
		require.Contains(t, got.body, `"`+field+`":`)
	}
}
