package interpreter

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

// Headers of an answer to /execute.
const (
	headerContext   = "X-Context-Id"
	headerExecution = "X-Execution-Id"
)

func (s *Service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("POST /execute", s.execute)
	mux.HandleFunc("GET /contexts", s.listContexts)
	mux.HandleFunc("POST /contexts", s.createContext)
	mux.HandleFunc("POST /contexts/{id}/restart", s.restartContext)
	mux.HandleFunc("POST /contexts/{id}/interrupt", s.interruptContext)
	mux.HandleFunc("DELETE /contexts/{id}", s.removeContext)
	return mux
}

// allowOrigins lets pages of any origin in, as E2B does: what guards a sandbox
// is its id, and its traffic token where it has one.
func allowOrigins(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", headerContext+", "+headerExecution)
		if r.Method != http.MethodOptions {
			next.ServeHTTP(w, r)
			return
		}
		h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
			h.Set("Access-Control-Allow-Headers", asked)
		}
		h.Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(http.StatusNoContent)
	})
}

// authorize refuses a wrong access token.
func (s *Service) authorize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, want := r.Header.Get("X-Access-Token"), s.options.Token()
		if given != "" && want != "" && !sameSecret(given, want) {
			refuse(w, http.StatusUnauthorized, "the access token is not that of this sandbox")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func sameSecret(a, b string) bool {
	left, right := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(left[:], right[:]) == 1
}

// refuse answers with a text, as E2B's server does.
func refuse(w http.ResponseWriter, status int, message string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, message)
}

func answer(w http.ResponseWriter, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// refusal puts an error into a status: what is missing here is not the
// client's fault (501), a language that is not there is.
func refusal(w http.ResponseWriter, err error) {
	var missing *noKernelError
	var death *deathError
	switch {
	case errors.As(err, &missing) && len(missing.have) == 0:
		refuse(w, http.StatusNotImplemented, err.Error())
	case errors.As(err, &missing):
		refuse(w, http.StatusBadRequest, err.Error())
	case errors.As(err, &death):
		refuse(w, http.StatusInternalServerError, "the kernel did not start: "+death.reason+"\n"+death.said)
	default:
		refuse(w, http.StatusInternalServerError, err.Error())
	}
}

// health says OK where there is something to run code with.
func (s *Service) health(w http.ResponseWriter, _ *http.Request) {
	var missing *noKernelError
	if _, err := s.contexts.workshop.find("python"); errors.As(err, &missing) && len(missing.have) == 0 {
		refusal(w, err)
		return
	}
	answer(w, "OK")
}

// described is a context on the wire.
type described struct {
	ID       string `json:"id"`
	Language string `json:"language"`
	CWD      string `json:"cwd"`
}

func describe(c *session) described { return described{c.id, c.language, c.cwd} }

func (s *Service) listContexts(w http.ResponseWriter, _ *http.Request) {
	list := []described{}
	for _, c := range s.contexts.list() {
		list = append(list, describe(c))
	}
	answer(w, list)
}

func (s *Service) createContext(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Language *string `json:"language"`
		CWD      *string `json:"cwd"`
	}
	if !read(w, r, &in) {
		return
	}
	language, cwd := "", ""
	if in.Language != nil {
		language = *in.Language
	}
	if in.CWD != nil {
		cwd = *in.CWD
	}
	cwd, err := s.contexts.workshop.workingDir(cwd)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	c, err := s.contexts.create(kernelspec.Language(language), cwd)
	if err != nil {
		refusal(w, err)
		return
	}
	answer(w, describe(c))
}

// find finds the context of a request, or answers that there is none.
func (s *Service) find(w http.ResponseWriter, r *http.Request) *session {
	id := r.PathValue("id")
	c := s.contexts.get(id)
	if c == nil {
		notFound(w, id)
	}
	return c
}

func notFound(w http.ResponseWriter, id string) {
	refuse(w, http.StatusNotFound, "Context "+id+" not found")
}

func (s *Service) restartContext(w http.ResponseWriter, r *http.Request) {
	c := s.find(w, r)
	if c == nil {
		return
	}
	switch err := c.restart(); {
	case errors.Is(err, errRemoved):
		notFound(w, c.id)
	case err != nil:
		refusal(w, err)
	default:
		answer(w, nil)
	}
}

func (s *Service) interruptContext(w http.ResponseWriter, r *http.Request) {
	c := s.find(w, r)
	if c == nil {
		return
	}
	var in struct {
		Execution string `json:"execution_id"`
	}
	if !read(w, r, &in) {
		return
	}
	answer(w, c.interrupt(in.Execution))
}

func (s *Service) removeContext(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if !s.contexts.remove(id) {
		notFound(w, id)
		return
	}
	answer(w, nil)
}

// maxBody bounds a request in bytes: a cell is text that a kernel compiles.
const maxBody = 64 << 20

// read reads a JSON body, which may be missing, or refuses it.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		refuse(w, http.StatusRequestEntityTooLarge, "the request is larger than 64 MiB")
		return false
	case err != nil:
		refuse(w, http.StatusBadRequest, "the request could not be read: "+err.Error())
		return false
	case len(body) == 0:
		return true
	}
	if err := json.Unmarshal(body, v); err != nil {
		refuse(w, http.StatusBadRequest, "invalid request: "+err.Error())
		return false
	}
	return true
}

// executeBody is the body of POST /execute. Keys that are null count as absent.
type executeBody struct {
	Code     json.RawMessage    `json:"code"`
	Context  *string            `json:"context_id"`
	Language *string            `json:"language"`
	Envs     map[string]*string `json:"env_vars"`
}

func (s *Service) execute(w http.ResponseWriter, r *http.Request) {
	var in executeBody
	if !read(w, r, &in) {
		return
	}
	code, err := checkCode(in.Code)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	c := s.contextFor(w, &in)
	if c == nil {
		return
	}
	envs, err := checkEnvs(c.language, in.Envs)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	x := newExecution(code, envs)
	if err := c.enter(x); err != nil {
		notFound(w, c.id)
		return
	}
	h := w.Header()
	h.Set(headerContext, c.id)
	h.Set(headerExecution, x.id)
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	x.out = openOutput(w, s.options.Keepalive)
	serve(r.Context(), c, x)
}

// serve runs x until its stream has ended or the client has left.
func serve(ctx context.Context, c *session, x *execution) {
	go c.execute(x)
	select {
	case <-x.out.ended:
	case <-ctx.Done():
		x.out.abandon()
		x.interrupt()
	}
}

// contextFor finds the context that a request names, or answers why not.
func (s *Service) contextFor(w http.ResponseWriter, in *executeBody) *session {
	if in.Context != nil && *in.Context != "" {
		if in.Language != nil && *in.Language != "" {
			refuse(w, http.StatusBadRequest, "Only one of context_id or language can be provided")
			return nil
		}
		c := s.contexts.get(*in.Context)
		if c == nil {
			notFound(w, *in.Context)
		}
		return c
	}
	language := ""
	if in.Language != nil {
		language = *in.Language
	}
	c, err := s.contexts.forLanguage(kernelspec.Language(language))
	if err != nil {
		refusal(w, err)
		return nil
	}
	return c
}
