package daemon

import (
	"encoding/json"
	"math"
	"net/http"

	"connectrpc.com/connect"

	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/filesystem/filesystemconnect"
	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process/processconnect"
)

// maxMessage bounds one request message in bytes: input for a command comes in
// far smaller pieces, and an unbounded one could exhaust the sandbox's memory.
const maxMessage = 64 << 20

// neverCompress keeps connect-go from compressing answers: over loopback that
// costs more than it saves. Compressed requests are still understood.
const neverCompress = math.MaxInt

func (d *Daemon) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", serveHealth)
	mux.HandleFunc("GET /metrics", d.serveMetrics)
	mux.HandleFunc("GET /envs", d.serveEnvs)
	mux.HandleFunc("POST /init", d.serveInit)
	mux.HandleFunc("GET /files", d.serveDownload)
	mux.HandleFunc("POST /files", d.serveUpload)
	mux.HandleFunc("POST /files/compose", d.serveCompose)
	options := []connect.HandlerOption{
		connect.WithCodec(newProtoCodec()), connect.WithCodec(newJSONCodec()),
		connect.WithReadMaxBytes(maxMessage), connect.WithCompressMinBytes(neverCompress),
	}
	path, processes := processconnect.NewProcessHandler(&processService{d: d}, options...)
	mux.Handle(path, bundled(processes))
	mux.Handle(filesystemconnect.NewFilesystemHandler(&filesystemService{d: d}, options...))
	return mux
}

func serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusNoContent)
}

func (d *Daemon) serveEnvs(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, d.defaults.environment())
}

// writeJSON answers with v and the content type of envd's REST routes.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// refusal is the REST error body (e2b.md 3.2).
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func refuse(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, refusal{Code: status, Message: message})
}
