package daemon

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
)

// fileTarget is the user and the path of a /files request. A false result has
// been answered.
func (d *Daemon) fileTarget(w http.ResponseWriter, r *http.Request, operation string) (User, bool) {
	if reason := d.authorizeFile(r, operation); reason != "" {
		refuse(w, http.StatusUnauthorized, reason)
		return User{}, false
	}
	user, err := d.lookup(r.URL.Query().Get("username"))
	if err != nil {
		refuse(w, http.StatusUnauthorized, err.Error())
		return User{}, false
	}
	return user, true
}

// serveDownload is GET /files (e2b.md 3.2).
func (d *Daemon) serveDownload(w http.ResponseWriter, r *http.Request) {
	user, ok := d.fileTarget(w, r, "read")
	if !ok {
		return
	}
	path, err := expandPath(r.URL.Query().Get("path"), user, d.defaults.directory())
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	file, info, fault := openForRead(path)
	if fault != nil {
		refuse(w, fault.Code, fault.Message)
		return
	}
	defer file.Close()
	header := w.Header()
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Disposition", disposition(filepath.Base(path)))
	encoding := acceptedEncoding(r.Header)
	if encoding == "" {
		refuse(w, http.StatusNotAcceptable, "no acceptable encoding found, supported: identity, gzip")
		return
	}
	if encoding == "gzip" && !partial(r.Header) && !fromPage(r.Header) && worthCompressing(file, info.Size()) {
		serveCompressed(w, r, file)
		return
	}
	http.ServeContent(w, r, path, info.ModTime(), file)
}

func openForRead(path string) (*os.File, os.FileInfo, *refusal) {
	// Looked at first: opening a named pipe would wait for its writer.
	info, err := os.Stat(path)
	switch {
	case isMissing(err):
		return nil, nil, &refusal{http.StatusNotFound, fmt.Sprintf("path '%s' does not exist", path)}
	case err != nil:
		return nil, nil, &refusal{readStatus(err), fmt.Sprintf("error reading path '%s': %v", path, err)}
	case info.IsDir():
		return nil, nil, &refusal{http.StatusBadRequest, fmt.Sprintf("path '%s' is a directory", path)}
	case !info.Mode().IsRegular():
		return nil, nil, &refusal{http.StatusBadRequest, fmt.Sprintf("path '%s' is not a regular file", path)}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, &refusal{readStatus(err), fmt.Sprintf("error opening file '%s': %v", path, err)}
	}
	return file, info, nil
}

// disposition names the file so that any name survives in a header.
func disposition(name string) string {
	text := mime.FormatMediaType("inline", map[string]string{"filename": validText(name)})
	if text == "" {
		return "inline"
	}
	return text
}

// partial requests need the file's own bytes.
func partial(header http.Header) bool {
	for _, name := range []string{"Range", "If-Modified-Since", "If-None-Match", "If-Range", "If-Match", "If-Unmodified-Since"} {
		if header.Get(name) != "" {
			return true
		}
	}
	return false
}

// fromPage: a browser offers gzip with every request, and no page can stop it.
// On one machine compression only costs time.
func fromPage(header http.Header) bool { return header.Get("Sec-Fetch-Mode") != "" }

// Compression of what does not shrink costs a client most of its download speed
// for nothing, and many clients ask for gzip without meaning it.
const (
	compressSample = 32 << 10
	compressWorth  = 0.95
)

// worthCompressing compresses a sample of a large file and looks at the result.
func worthCompressing(file *os.File, size int64) bool {
	if size <= compressSample {
		return true
	}
	sample := make([]byte, compressSample)
	n, err := file.ReadAt(sample, (size-compressSample)/2)
	if err != nil {
		return true
	}
	var out bytes.Buffer
	zip, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		return true
	}
	_, _ = zip.Write(sample[:n])
	_ = zip.Close()
	return float64(out.Len()) < compressWorth*float64(n)
}

func serveCompressed(w http.ResponseWriter, r *http.Request, file *os.File) {
	header := w.Header()
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", contentType(file))
	}
	header.Set("Content-Encoding", "gzip")
	if r.Method == http.MethodHead {
		return
	}
	// Sent before the content, so that no length is added: it says nothing of the file.
	_ = http.NewResponseController(w).Flush()
	zip, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return
	}
	if _, err := io.Copy(zip, file); err != nil {
		// The missing end of the compressed data tells the client.
		return
	}
	_ = zip.Close()
}

// contentType is what ServeContent would say: by extension, else by content.
func contentType(file *os.File) string {
	if byName := mime.TypeByExtension(filepath.Ext(file.Name())); byName != "" {
		return byName
	}
	var start [512]byte
	n, _ := file.ReadAt(start[:], 0)
	return http.DetectContentType(start[:n])
}
