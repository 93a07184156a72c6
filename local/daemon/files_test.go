package daemon

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

var octets = []string{"Content-Type", "application/octet-stream"}

// form makes a multipart body of name, content pairs, each a part named "file".
func form(t testing.TB, files ...string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for i := 0; i < len(files); i += 2 {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name="file"; filename="%s"`, files[i])},
		})
		require.NoError(t, err)
		_, err = part.Write([]byte(files[i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.String(), w.FormDataContentType()
}

func zipped(t testing.TB, s string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write([]byte(s))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.String()
}

func TestMultipartKeepsDirectoriesAndNames(t *testing.T) {
	r := newRig(t)
	body, kind := form(t, "a/b/c.txt", "one", "sp ace/\u00fcml\u00e4ut \u65e5.txt", "two", filepath.Join(r.home, "abs"), "three")
	got := r.do("POST", "/files", body, "Content-Type", kind)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, 3, strings.Count(got.body, `"type":"file"`))
	for name, want := range map[string]string{"a/b/c.txt": "one", "sp ace/\u00fcml\u00e4ut \u65e5.txt": "two", "abs": "three"} {
		content, err := os.ReadFile(filepath.Join(r.home, name))
		require.NoError(t, err)
		require.Equal(t, want, string(content))
		down := r.do("GET", "/files?path="+url.QueryEscape(name), "")
		require.Equal(t, want, down.body)
	}
}

func TestMultipartWithPathTakesOneFile(t *testing.T) {
	r := newRig(t)
	body, kind := form(t, "ignored", "one")
	require.Equal(t, 200, r.do("POST", "/files?path=x", body, "Content-Type", kind).status)
	body, kind = form(t, "p", "first", "q", "second")
	got := r.do("POST", "/files?path=x", body, "Content-Type", kind)
	require.Equal(t, 400, got.status)
	content, err := os.ReadFile(filepath.Join(r.home, "x"))
	require.NoError(t, err)
	require.Equal(t, "first", string(content))
	body, kind = form(t, "same", "1", "./same", "2")
	require.Equal(t, 400, r.do("POST", "/files", body, "Content-Type", kind).status)
}

func TestBrokenMultipartIsTheClientsFault(t *testing.T) {
	r := newRig(t)
	part := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n"
	for name, body := range map[string]string{
		"cut head":    "--B\r\nContent-Disp",
		"NUL in head": strings.Replace(part, "=\"a\"", "=\"a\x00\"", 1) + "\r\nhi\r\n--B--\r\n",
		"long head":   part + "X: " + strings.Repeat("x", 11<<20) + "\r\n\r\nhi\r\n--B--\r\n",
		"preamble":    strings.Repeat("x", 1<<20) + "\r\n" + part + "\r\nhi\r\n--B--\r\n",
		"no end":      part + "\r\nhi\r\n",
	} {
		got := r.do("POST", "/files", body, "Content-Type", "multipart/form-data; boundary=B")
		require.Equal(t, 400, got.status, "%s: %s", name, got.body)
	}
}

func TestUploadsAreUnzipped(t *testing.T) {
	r := newRig(t)
	got := r.do("POST", "/files?path=z", zipped(t, "zipped"), append([]string{"Content-Encoding", "gzip"}, octets...)...)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, "zipped", r.do("GET", "/files?path=z", "").body)
	body, kind := form(t, "m", "in parts")
	got = r.do("POST", "/files", zipped(t, body), "Content-Encoding", "gzip", "Content-Type", kind)
	require.Equal(t, 200, got.status, got.body)
	require.Equal(t, "in parts", r.do("GET", "/files?path=m", "").body)
	cut := zipped(t, strings.Repeat("abc", 1000))
	got = r.do("POST", "/files?path=cut", cut[:len(cut)-9], append([]string{"Content-Encoding", "gzip"}, octets...)...)
	require.Equal(t, 400, got.status)
	require.NoFileExists(t, filepath.Join(r.home, "cut"))
}

func TestUploadReplacesContentAndMetadata(t *testing.T) {
	r := newRig(t)
	upload := func(content string, header ...string) {
		t.Helper()
		require.Equal(t, 200, r.do("POST", "/files?path=f", content, append(header, octets...)...).status)
	}
	upload("a long first content", "X-Metadata-One", "1", "X-Metadata-Two", "2")
	path := filepath.Join(r.home, "f")
	if len(attributes(path)) == 0 {
		t.Skip("the file system of the temporary directory has no user attributes")
	}
	require.Equal(t, map[string]string{"one": "1", "two": "2"}, readMetadata(path))
	require.NoError(t, unix.Setxattr(path, "user.other", []byte("kept"), 0))
	upload("short", "X-Metadata-Two", "22")
	require.Equal(t, map[string]string{"two": "22"}, readMetadata(path))
	upload("short")
	require.Nil(t, readMetadata(path))
	require.Contains(t, attributes(path), "user.other")
	require.Equal(t, "short", r.do("GET", "/files?path=f", "").body)
}

func TestParallelUploadsIntoANewDirectoryAllSucceed(t *testing.T) {
	r := newRig(t)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			path := fmt.Sprintf("new/deep/dir/%d", i)
			if got := r.do("POST", "/files?path="+path, path, octets...); got.status != 200 {
				t.Error(got.body)
			}
			if got := r.do("GET", "/files?path="+path, ""); got.body != path {
				t.Error(got.body)
			}
		})
	}
	all.Wait()
}

func TestEmptyFilesAndPathDefaults(t *testing.T) {
	r := newRig(t)
	require.Equal(t, 200, r.do("POST", "/files?path=~/e", "", octets...).status)
	got := r.do("GET", "/files?path=~/e", "")
	require.Equal(t, 200, got.status)
	require.Empty(t, got.body)
	require.Equal(t, 400, r.do("GET", "/files", "").status, "an empty path is the home directory")
}

func TestLargeFilesComeBackWhole(t *testing.T) {
	r := newRig(t)
	content := make([]byte, 20<<20)
	_, _ = rand.Read(content)
	require.Equal(t, 200, r.do("POST", "/files?path=big", string(content), octets...).status)
	require.Equal(t, sum(content), sum([]byte(r.do("GET", "/files?path=big", "").body)))
	got := r.do("GET", "/files?path=big", "", "Accept-Encoding", "gzip, deflate")
	require.Empty(t, got.header.Get("Content-Encoding"), "random bytes are not worth compressing")
	require.Equal(t, 200, r.do("POST", "/files?path=text", strings.Repeat("words ", 1<<16), octets...).status)
	require.Equal(t, "gzip", r.do("GET", "/files?path=text", "", "Accept-Encoding", "gzip, deflate").header.Get("Content-Encoding"))
	got = r.do("GET", "/files?path=text", "", "Accept-Encoding", "gzip, deflate, br, zstd", "Sec-Fetch-Mode", "cors")
	require.Empty(t, got.header.Get("Content-Encoding"), "a browser offers gzip unasked")
	part := r.do("GET", "/files?path=big", "", "Range", "bytes=5-104")
	require.Equal(t, string(content[5:105]), part.body)
	require.Equal(t, http.StatusRequestedRangeNotSatisfiable, r.do("GET", "/files?path=big", "", "Range", "bytes=99999999-").status)
}

func TestFullDiskIs507AndLeavesNoNewFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a small file system")
	}
	r := newRig(t)
	disk := filepath.Join(r.home, "disk")
	require.NoError(t, os.Mkdir(disk, 0o755))
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("mounting is not allowed here: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(disk, unix.MNT_DETACH) })
	content := strings.Repeat("x", 3<<20)
	for name, send := range map[string]func() reply{
		"known length": func() reply { return r.do("POST", "/files?path=disk/a", content, octets...) },
		"unknown length": func() reply {
			return r.do("POST", "/files?path=disk/a", zipped(t, content), append([]string{"Content-Encoding", "gzip"}, octets...)...)
		},
	} {
		got := send()
		require.Equal(t, 507, got.status, name)
		require.Contains(t, got.body, `"code":507`)
		require.NoFileExists(t, filepath.Join(disk, "a"))
	}
}

func TestNamedPipesDoNotBlockARequest(t *testing.T) {
	r := newRig(t)
	require.NoError(t, unix.Mkfifo(filepath.Join(r.home, "fifo"), 0o644))
	require.Equal(t, 400, r.do("GET", "/files?path=fifo", "").status)
	require.Equal(t, 400, r.do("POST", "/files?path=fifo", "x", octets...).status)
}

func TestComposeJoinsAndRemovesSources(t *testing.T) {
	r := newRig(t)
	for i, content := range []string{"one ", "", "three"} {
		require.NoError(t, os.WriteFile(filepath.Join(r.home, fmt.Sprint(i)), []byte(content), 0o644))
	}
	compose := func(body string) reply {
		return r.do("POST", "/files/compose", body, "Content-Type", "application/json")
	}
	require.Equal(t, 404, compose(`{"source_paths":["0","nope"],"destination":"d"}`).status)
	require.Equal(t, 400, compose(`{"source_paths":[],"destination":"d"}`).status)
	require.Equal(t, 400, compose(`{"source_paths":["0"],"destination":"./0"}`).status)
	require.Equal(t, 400, compose(`{`).status)
	got := compose(`{"source_paths":["0","1","2"],"destination":"sub/d"}`)
	require.Equal(t, 200, got.status, got.body)
	require.JSONEq(t, `{"name":"d","path":"`+r.home+`/sub/d","type":"file"}`, got.body)
	require.Equal(t, "one three", r.do("GET", "/files?path=sub/d", "").body)
	require.NoFileExists(t, filepath.Join(r.home, "0"))
}

func TestAcceptedEncoding(t *testing.T) {
	for accept, want := range map[string]string{
		"":                            "identity",
		"identity":                    "identity",
		"gzip":                        "gzip",
		"gzip, deflate, br":           "gzip",
		"deflate":                     "identity",
		"*":                           "gzip",
		"gzip;q=0":                    "identity",
		"gzip;q=0.5, identity":        "identity",
		"gzip;q=0.5, identity;q=0.2":  "gzip",
		"identity;q=0, gzip":          "gzip",
		"identity;q=0, gzip;q=0":      "",
		"*;q=0":                       "",
		"*;q=0, gzip":                 "gzip",
		"GZIP ; Q=0.3":                "gzip",
		"gzip;q=nonsense, identity;q": "gzip",
	} {
		header := http.Header{}
		if accept != "" {
			header.Set("Accept-Encoding", accept)
		}
		require.Equal(t, want, acceptedEncoding(header), accept)
	}
}

func TestExpandPath(t *testing.T) {
	user := User{Home: "/home/user"}
	for _, c := range []struct{ path, workdir, want string }{
		{"", "", "/home/user"},
		{"", "/work", "/work"},
		{"", "sub", "/home/user/sub"},
		{"~", "/work", "/home/user"},
		{"~/a/../b", "", "/home/user/b"},
		{"a", "/work", "/home/user/a"},
		{"./a/", "", "/home/user/a"},
		{"../x", "", "/home/x"},
		{"/a/../b/", "", "/a/../b/"},
		{" ", "", "/home/user/ "},
		{"a~", "", "/home/user/a~"},
	} {
		got, err := expandPath(c.path, user, c.workdir)
		require.NoError(t, err)
		require.Equal(t, c.want, got, "%q in %q", c.path, c.workdir)
	}
	for path, want := range map[string]error{"~root": errOtherHome, "a\x00": errNulInPath, "~\x00": errNulInPath} {
		_, err := expandPath(path, user, "")
		require.ErrorIs(t, err, want)
	}
}

func FuzzExpandPath(f *testing.F) {
	for _, seed := range []string{"", "~", "~/x", "/", "a/../..", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		got, err := expandPath(path, User{Home: "/home/user"}, "")
		if err == nil && (!filepath.IsAbs(got) || strings.IndexByte(got, 0) >= 0) {
			t.Errorf("%q became %q", path, got)
		}
	})
}

func FuzzAcceptedEncoding(f *testing.F) {
	f.Add("gzip;q=0.1,*;q=0")
	f.Fuzz(func(t *testing.T, accept string) {
		switch got := acceptedEncoding(http.Header{"Accept-Encoding": {accept}}); got {
		case "", "gzip", "identity":
		default:
			t.Errorf("%q chose %q", accept, got)
		}
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add("X-Metadata-A", "b")
	f.Fuzz(func(t *testing.T, name, value string) {
		all, err := metadataFrom(http.Header{name: {value}})
		for key, value := range all {
			if err == nil && (len(key) > maxMetadataKey || !printable(value) || key != strings.ToLower(key)) {
				t.Errorf("accepted %q = %q", key, value)
			}
		}
	})
}

func FuzzUpload(f *testing.F) {
	body, kind := "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"ab\"\r\n\r\nhi\r\n--B--\r\n", "multipart/form-data; boundary=B"
	f.Add(body, kind)
	f.Add("x", "application/octet-stream")
	root := f.TempDir()
	d := New(Options{Users: oneUser{root}})
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, body, kind string) {
		if strings.ContainsAny(body, "/%") || strings.Contains(body, "..") {
			t.Skip("names that lead elsewhere are allowed, but not in a test")
		}
		u := &upload{d: d, user: User{Home: root}, owner: owner{-1, -1}, size: -1, body: strings.NewReader(body)}
		u.r = &http.Request{Header: http.Header{"Content-Type": {kind}}, URL: &url.URL{RawQuery: ""}}
		if fault := u.receive(); fault != nil && (fault.Code < 400 || fault.Message == "") {
			t.Errorf("fault %+v", fault)
		}
	})
}

func TestStalledUploadIsGivenUp(t *testing.T) {
	r := newRig(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body := &idleBody{body: q.Body, control: http.NewResponseController(w), idle: 50 * time.Millisecond}
		defer body.rest()
		u := &upload{d: r.d, r: q, user: User{Home: r.home}, owner: owner{-1, -1}, body: body, size: -1}
		if fault := u.receive(); fault != nil {
			refuse(w, fault.Code, fault.Message)
		}
	}))
	defer server.Close()
	content, feed := io.Pipe()
	defer feed.Close()
	go func() { _, _ = feed.Write([]byte("beginning")) }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/files?path=stalled", content)
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusRequestTimeout, response.StatusCode)
	require.NoFileExists(t, filepath.Join(r.home, "stalled"))
}

func BenchmarkUpload(b *testing.B) {
	r := newRig(b)
	const size = 256 << 20
	b.SetBytes(size)
	for b.Loop() {
		body := io.LimitReader(zeros{}, size)
		response, err := r.server.Client().Post(r.server.URL+"/files?path=big", "application/octet-stream", body)
		require.NoError(b, err)
		require.Equal(b, 200, response.StatusCode)
		_ = response.Body.Close()
	}
}

func BenchmarkDownload(b *testing.B) {
	r := newRig(b)
	const size = 256 << 20
	require.NoError(b, os.WriteFile(filepath.Join(r.home, "big"), nil, 0o644))
	require.NoError(b, os.Truncate(filepath.Join(r.home, "big"), size))
	b.SetBytes(size)
	for b.Loop() {
		response, err := r.server.Client().Get(r.server.URL + "/files?path=big")
		require.NoError(b, err)
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, response.Body, make([]byte, 256<<10))
		require.NoError(b, err)
		require.EqualValues(b, size, n)
		_ = response.Body.Close()
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
