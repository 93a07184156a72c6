package daemon

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
)

// written is one file of an upload's answer (e2b.md 3.7).
type written struct {
	Metadata map[string]string `json:"metadata,omitempty"`
	Name     string            `json:"name"`
	Path     string            `json:"path"`
	Type     string            `json:"type"`
}

// upload is one POST /files.
type upload struct {
	d        *Daemon
	r        *http.Request
	user     User
	owner    owner
	metadata map[string]string
	body     io.Reader
	// size is the length of the one file in the body, -1 when unknown.
	size int64
	done []written
}

// serveUpload is POST /files (e2b.md 3.2).
func (d *Daemon) serveUpload(w http.ResponseWriter, r *http.Request) {
	user, ok := d.fileTarget(w, r, "write")
	if !ok {
		return
	}
	body := &idleBody{body: r.Body, control: http.NewResponseController(w), idle: uploadIdle}
	defer body.rest()
	u := &upload{d: d, r: r, user: user, owner: d.ownerFor(user), body: body, size: -1, done: []written{}}
	if fault := u.receive(); fault != nil {
		refuse(w, fault.Code, fault.Message)
		return
	}
	answer, err := json.Marshal(u.done)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	// envd leaves the type to Go's sniffing, and this is what that says of JSON.
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(answer)
}

func (u *upload) receive() *refusal {
	var err error
	if u.metadata, err = metadataFrom(u.r.Header); err != nil {
		return badRequest(err)
	}
	if fault := u.decode(); fault != nil {
		return fault
	}
	kind, parameters, err := mime.ParseMediaType(u.r.Header.Get("Content-Type"))
	switch {
	case kind == "application/octet-stream":
		return u.receiveOctets()
	case kind == "multipart/form-data" && err == nil:
		return u.receiveParts(parameters["boundary"])
	}
	return badRequest(fmt.Errorf("unsupported content type '%s', supported: multipart/form-data, application/octet-stream", u.r.Header.Get("Content-Type")))
}

// decode undoes the content encoding.
func (u *upload) decode() *refusal {
	switch encoding := strings.ToLower(strings.TrimSpace(u.r.Header.Get("Content-Encoding"))); encoding {
	case "", "identity":
		u.size = u.r.ContentLength
	case "gzip":
		body, err := gzip.NewReader(u.body)
		if err != nil {
			return badRequest(fmt.Errorf("error reading gzip body: %w", err))
		}
		u.body = body
	default:
		return badRequest(fmt.Errorf("unsupported Content-Encoding '%s', supported: gzip", encoding))
	}
	return nil
}

func (u *upload) receiveOctets() *refusal {
	if !u.r.URL.Query().Has("path") {
		return badRequest(errors.New("path is required for application/octet-stream"))
	}
	return u.save(u.r.URL.Query().Get("path"), u.body)
}

func (u *upload) receiveParts(boundary string) *refusal {
	if boundary == "" {
		return badRequest(errors.New("multipart body without boundary"))
	}
	u.size = -1
	parts := multipart.NewReader(u.body, boundary)
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return partFault(err)
		}
		if part.FormName() != "file" {
			continue
		}
		target, fault := u.target(part)
		if fault == nil {
			fault = u.save(target, part)
		}
		if fault != nil {
			return fault
		}
	}
}

// partFault: what stands between the parts is the client's, whatever is wrong with it.
func partFault(err error) *refusal {
	err = fmt.Errorf("error reading multipart body: %w", err)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return (&saving{}).fault(err)
	}
	return badRequest(err)
}

// target is where a part goes: the path of the query, or its own file name with
// the directories that mime/multipart would cut off.
func (u *upload) target(part *multipart.Part) (string, *refusal) {
	if u.r.URL.Query().Has("path") {
		return u.r.URL.Query().Get("path"), nil
	}
	_, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] == "" {
		return "", badRequest(errors.New("multipart file without a file name"))
	}
	return parameters["filename"], nil
}

// save writes one file and adds it to the answer.
func (u *upload) save(target string, content io.Reader) *refusal {
	path, err := expandPath(target, u.user, u.d.defaults.directory())
	if err != nil {
		return badRequest(err)
	}
	for _, earlier := range u.done {
		if earlier.Path == path {
			return badRequest(fmt.Errorf("you cannot upload multiple files to the same path '%s' in one upload request, only the first one was uploaded", path))
		}
	}
	s := &saving{path: path, owner: u.owner, metadata: u.metadata, size: u.size, buffers: &u.d.buffers}
	if fault := s.from(content); fault != nil {
		return fault
	}
	u.done = append(u.done, written{Metadata: u.metadata, Name: filepath.Base(path), Path: path, Type: "file"})
	return nil
}

func badRequest(err error) *refusal { return &refusal{http.StatusBadRequest, err.Error()} }
