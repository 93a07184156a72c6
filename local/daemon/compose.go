package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// maxCompose bounds the body of a compose request in bytes.
const maxCompose = 4 << 20

// composeRequest is the body of POST /files/compose (e2b.md 3.2).
type composeRequest struct {
	SourcePaths []string `json:"source_paths"`
	Destination string   `json:"destination"`
	Username    string   `json:"username"`
}

// serveCompose joins files into one and removes them.
func (d *Daemon) serveCompose(w http.ResponseWriter, r *http.Request) {
	var in composeRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxCompose)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "invalid compose request: "+err.Error())
		return
	}
	user, err := d.lookup(in.Username)
	if err != nil {
		refuse(w, http.StatusUnauthorized, err.Error())
		return
	}
	path, fault := d.compose(&in, user)
	if fault != nil {
		refuse(w, fault.Code, fault.Message)
		return
	}
	writeJSON(w, http.StatusOK, written{Name: filepath.Base(path), Path: path, Type: "file"})
}

func (d *Daemon) compose(in *composeRequest, user User) (string, *refusal) {
	if len(in.SourcePaths) == 0 || in.Destination == "" {
		return "", badRequest(errors.New("source_paths and destination are required"))
	}
	destination, err := expandPath(in.Destination, user, d.defaults.directory())
	if err != nil {
		return "", badRequest(err)
	}
	sources := make([]string, 0, len(in.SourcePaths))
	for _, source := range in.SourcePaths {
		path, fault := d.composeSource(source, destination, user)
		if fault != nil {
			return "", fault
		}
		sources = append(sources, path)
	}
	s := &saving{path: destination, owner: d.ownerFor(user), size: -1, buffers: &d.buffers}
	content := &sequence{paths: sources}
	defer content.close()
	if fault := s.from(content); fault != nil {
		return "", fault
	}
	for _, source := range sources {
		if err := os.Remove(source); err != nil {
			d.log.Warn("composed file not removed", "err", err)
		}
	}
	return destination, nil
}

func (d *Daemon) composeSource(source, destination string, user User) (string, *refusal) {
	path, err := expandPath(source, user, d.defaults.directory())
	if err != nil {
		return "", badRequest(err)
	}
	info, err := os.Stat(path)
	switch {
	case isMissing(err):
		return "", &refusal{http.StatusNotFound, fmt.Sprintf("path '%s' does not exist", path)}
	case err != nil:
		return "", &refusal{readStatus(err), err.Error()}
	case !info.Mode().IsRegular():
		return "", badRequest(fmt.Errorf("path '%s' is not a file", path))
	}
	if target, err := os.Stat(destination); err == nil && os.SameFile(info, target) {
		return "", badRequest(fmt.Errorf("destination '%s' is one of the sources", destination))
	}
	return path, nil
}

// sequence reads files one after the other, with one open at a time.
type sequence struct {
	paths []string
	open  *os.File
}

func (s *sequence) Read(p []byte) (int, error) {
	for {
		if s.open == nil {
			if len(s.paths) == 0 {
				return 0, io.EOF
			}
			file, err := os.Open(s.paths[0])
			if err != nil {
				return 0, err
			}
			s.open, s.paths = file, s.paths[1:]
		}
		n, err := s.open.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		s.close()
		if n > 0 {
			return n, nil
		}
	}
}

func (s *sequence) close() {
	if s.open != nil {
		_ = s.open.Close()
		s.open = nil
	}
}
