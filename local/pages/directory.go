package pages

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/api"
)

// Prefix is where the files of a directory are served.
const Prefix = "/pages/"

// index is the file that stands for its directory.
const index = "index.html"

// Directory serves the files of one directory under Prefix, to GET and HEAD
// alone: nothing outside of it, whatever links lead there, nothing whose name
// begins with a dot, and no listing. Make it with Open.
type Directory struct {
	root *os.Root
}

// Open takes a directory. The error is one of the file system when it cannot be
// read or is none.
func Open(name string) (*Directory, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &Directory{root}, nil
}

// Close lets the directory go.
func (d *Directory) Close() error { return d.root.Close() }

// ServeHTTP answers with a file, or says why not.
func (d *Directory) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "pages are read with GET")
		return
	}
	name, found := strings.CutPrefix(r.URL.Path, Prefix)
	if !found {
		redirect(w, "pages/")
		return
	}
	d.serve(w, r, name)
}

// guard keeps other sites, and what sandboxes serve, from reading or framing
// the user's pages.
func guard(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
}

func (d *Directory) serve(w http.ResponseWriter, r *http.Request, asked string) {
	name := strings.TrimSuffix(asked, "/")
	if asked == "" {
		name = "."
	}
	if asked != "" && !visible(name) {
		missing(w, asked)
		return
	}
	info, err := d.root.Stat(name)
	switch {
	case err != nil:
		d.fail(w, asked, err)
	case info.IsDir() && asked != "" && !strings.HasSuffix(asked, "/"):
		redirect(w, path.Base(name)+"/")
	case info.IsDir():
		d.send(w, r, path.Join(name, index))
	case asked != name || !info.Mode().IsRegular():
		missing(w, asked)
	default:
		d.send(w, r, name)
	}
}

// send answers with one file, or a packed form of it that lies beside it.
func (d *Directory) send(w http.ResponseWriter, r *http.Request, name string) {
	form, err := d.choose(r, name)
	if err != nil {
		d.fail(w, name, err)
		return
	}
	defer func() { _ = form.file.Close() }()
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Add("Vary", "Accept-Encoding")
	h.Set("ETag", form.tag())
	if form.encoding != "" {
		h.Set("Content-Encoding", form.encoding)
		r.Header.Del("Range") // a part of a packed form is of no use to anybody
	}
	http.ServeContent(w, r, "", form.info.ModTime(), form.file)
}

func (d *Directory) fail(w http.ResponseWriter, name string, err error) {
	if errors.Is(err, fs.ErrPermission) {
		refuse(w, http.StatusForbidden, "the server may not read "+name)
		return
	}
	missing(w, name)
}

// visible reports whether a name may be asked for at all.
func visible(name string) bool {
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

// redirect is relative, so that it holds behind any tunnel.
func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusMovedPermanently)
}

func missing(w http.ResponseWriter, name string) {
	refuse(w, http.StatusNotFound, fmt.Sprintf("there is no page %q: the directory of --pages has no such file", name))
}

func refuse(w http.ResponseWriter, status int, message string) {
	api.WriteFault(w, api.Faultf(status, "%s", message))
}
