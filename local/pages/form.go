package pages

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// form is what is sent for a file: the file itself, or a packed one beside it.
type form struct {
	file     *os.File
	info     fs.FileInfo
	encoding string // "" = as it is
}

// packings are the packed forms that may lie beside a file, best first.
var packings = [...]struct{ encoding, suffix string }{{"br", ".br"}, {"gzip", ".gz"}}

// choose opens the best form that the client takes. A packed form that is older
// than its file is of a former build, and is passed over.
func (d *Directory) choose(r *http.Request, name string) (form, error) {
	plain, err := d.open(name)
	if err != nil {
		return form{}, err
	}
	for _, p := range packings {
		if !accepts(r.Header.Get("Accept-Encoding"), p.encoding) {
			continue
		}
		packed, err := d.open(name + p.suffix)
		if err != nil {
			continue
		}
		if !packed.info.ModTime().Before(plain.info.ModTime()) {
			_ = plain.file.Close()
			packed.encoding = p.encoding
			return packed, nil
		}
		_ = packed.file.Close()
	}
	return plain, nil
}

func (d *Directory) open(name string) (form, error) {
	info, err := d.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fs.ErrNotExist // opening a pipe would wait for its writer
	}
	if err != nil {
		return form{}, err
	}
	f, err := d.root.Open(name)
	if err != nil {
		return form{}, err
	}
	info, err = f.Stat()
	if err != nil {
		_ = f.Close()
		return form{}, err
	}
	return form{file: f, info: info}, nil
}

// tag names this content: a browser that has it keeps it, and the code that it
// compiled of it.
func (f form) tag() string {
	return fmt.Sprintf(`"%x-%x%s"`, f.info.ModTime().UnixNano(), f.info.Size(), f.encoding)
}

// accepts reports whether a client takes an encoding. One that is not named is
// not taken.
func accepts(header, encoding string) bool {
	for item := range strings.SplitSeq(header, ",") {
		name, parameter, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(name), encoding) {
			continue
		}
		weight, found := strings.CutPrefix(strings.TrimSpace(parameter), "q=")
		q, err := strconv.ParseFloat(weight, 64)
		return !found || err != nil || q > 0
	}
	return false
}
