package daemon

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"syscall"
	"time"
)

// warmLimit bounds Warm on a machine that is too busy for it to be of use.
const warmLimit = time.Second

// Warm runs a daemon over requests of its own, so that the first real one does
// not pay for what is made once in a process: the descriptions of messages, the
// tables of handlers, code that was never run. It starts no program and
// changes no file.
func Warm() {
	d := New(Options{Users: nobodyElse{}, Launcher: pretended{}})
	defer d.Close()
	ctx, cancel := context.WithTimeout(context.Background(), warmLimit)
	defer cancel()
	for _, r := range []struct{ path, kind, body string }{
		{"/process.Process/Start", "application/connect+proto", "\x00\x00\x00\x00\x0d\x0a\x09\x0a\x07/bin/sh\x20\x00"},
		{"/process.Process/Start", "application/connect+json", "\x00\x00\x00\x00\x27" + `{"process":{"cmd":"/bin/sh","args":[]}}`},
		{"/process.Process/List", "application/proto", ""},
		{"/process.Process/List", "application/json", "{}"},
	} {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.path, bytes.NewReader([]byte(r.body)))
		if err != nil {
			return
		}
		req.Header.Set("Content-Type", r.kind)
		d.Handler().ServeHTTP(&discarded{header: http.Header{}}, req)
	}
}

// pretended starts nothing: what it gives has ended well already.
type pretended struct{}

func (pretended) Launch(*Launch) (Process, error) { return pretended{}, nil }

// Pid is above what Linux gives to processes.
func (pretended) Pid() int { return 1 << 23 }

func (pretended) Wait() syscall.WaitStatus { return 0 }

// nobodyElse is one account in the root directory.
type nobodyElse struct{}

func (nobodyElse) Lookup(string) (User, error) { return User{Name: "user", Home: "/"}, nil }
func (nobodyElse) NameOf(int) string           { return "" }
func (nobodyElse) GroupOf(int) string          { return "" }
func (nobodyElse) OwnerOf(User) (int, int)     { return os.Getuid(), os.Getgid() }

// discarded is an answer that nobody reads.
type discarded struct{ header http.Header }

func (d *discarded) Header() http.Header       { return d.header }
func (*discarded) Write(b []byte) (int, error) { return len(b), nil }
func (*discarded) WriteHeader(int)             {}
func (*discarded) Flush()                      {}
