package daemon

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxInit bounds the body of an /init in bytes.
const maxInit = 1 << 20

// initRequest is the body of POST /init as far as it concerns the daemon: the
// network, mounts and CA bundle of a sandbox are settled before it starts.
type initRequest struct {
	EnvVars        *map[string]string `json:"envVars"`
	AccessToken    *string            `json:"accessToken"`
	Timestamp      *time.Time         `json:"timestamp"`
	DefaultUser    *string            `json:"defaultUser"`
	DefaultWorkdir *string            `json:"defaultWorkdir"`
}

func (d *Daemon) serveInit(w http.ResponseWriter, r *http.Request) {
	var in initRequest
	body := http.MaxBytesReader(w, r.Body, maxInit)
	if err := json.NewDecoder(body).Decode(&in); err != nil && !errors.Is(err, io.EOF) {
		http.Error(w, "invalid init request", http.StatusBadRequest)
		return
	}
	if reason := d.refuseInit(r, &in); reason != "" {
		http.Error(w, reason, http.StatusUnauthorized)
		return
	}
	d.defaults.replace(&in)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Envd-Version", Version)
	w.WriteHeader(http.StatusNoContent)
}

// refuseInit lets only the holder of the present token change it.
func (d *Daemon) refuseInit(r *http.Request, in *initRequest) string {
	token := d.defaults.token()
	switch given := r.Header.Get(tokenHeader); {
	case token == "":
		return ""
	case given != "" && sameSecret(given, token):
		return ""
	case in.AccessToken == nil:
		return "access token reset not authorized"
	case sameSecret(*in.AccessToken, token):
		return ""
	}
	return "access token validation failed"
}
