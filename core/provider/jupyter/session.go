package jupyter

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// A context is a session of the server: a kernel with a path. The last part of the
// path says whose it is, so that the kernels of a sandbox are known to everyone
// who knows its id, and no others are ever ended. A point is in no id.
const pathPrefix = "agent-sandbox."

// defaultName begins the names of default contexts, one for each kernel.
const defaultName = "default."

// session is one of the server's.
type session struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	Kernel kernel `json:"kernel"`
}

// kernel is one of the server's.
type kernel struct {
	ID    string `json:"id"`
	Name  string `json:"name"` // of its kernelspec
	State string `json:"execution_state"`
}

// name is the part of the path that names the context; false when the session is
// not of the sandbox.
func (s *session) name(sandbox string) (string, bool) {
	return strings.CutPrefix(s.Path[strings.LastIndexByte(s.Path, '/')+1:], pathPrefix+sandbox+".")
}

// cwd is the directory, below the server's own.
func (s *session) cwd() string {
	if i := strings.LastIndexByte(s.Path, '/'); i > 0 {
		return s.Path[:i]
	}
	return "."
}

// sessions are those of one sandbox.
func (c *control) sessions(ctx context.Context, sandbox string) ([]session, error) {
	var all []session
	if err := c.call(ctx, true, "GET", "/api/sessions", nil, &all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(s session) bool {
		_, mine := s.name(sandbox)
		return !mine
	}), nil
}

// open gives the session of that name, and makes it where there is none: a path
// has one session.
func (c *control) open(ctx context.Context, sandbox, cwd, name, spec string) (*session, error) {
	path := pathPrefix + sandbox + "." + name
	in := map[string]any{"name": path, "path": path, "type": "console", "kernel": map[string]string{"name": spec}}
	if cwd != "" {
		in["path"] = cwd + "/" + path
	}
	var made session
	if err := c.call(ctx, true, "POST", "/api/sessions", in, &made); err != nil {
		if statusOf(err) == 500 || statusOf(err) == 501 {
			e := fault.As(err)
			e.Code, e.Retryable = fault.CodeCodeExecution, false
		}
		return nil, err
	}
	if made.Kernel.ID == "" {
		return nil, fault.New(fault.CodeProtocol, "the peer broke the protocol: it made a session without a kernel")
	}
	return &made, nil
}

// close ends a session and its kernel; false when it is gone already.
func (c *control) close(ctx context.Context, s *session) (bool, error) {
	err := c.call(ctx, true, "DELETE", "/api/sessions/"+uri.Escape(s.ID), nil, nil)
	if statusOf(err) == 404 || statusOf(err) == 410 {
		return false, nil
	}
	return err == nil, err
}

// specs are the kinds of kernels that a server has.
type specs struct {
	Default string          `json:"default"`
	Specs   map[string]spec `json:"kernelspecs"`
}

type spec struct {
	Spec struct {
		Language string `json:"language"`
	} `json:"spec"`
}

func (c *control) specs(ctx context.Context) (*specs, error) {
	var s specs
	if err := c.call(ctx, true, "GET", "/api/kernelspecs", nil, &s); err != nil {
		return nil, err
	}
	if len(s.Specs) == 0 {
		return nil, fault.New(fault.CodeCodeExecution, "the Jupyter Server has no kernels").Suggest("install one on it, such as ipykernel")
	}
	return &s, nil
}

// instead are other words for a language. Deno's kernel is for TypeScript.
var instead = map[string]string{"py": "python", "js": "javascript", "ts": "typescript", "javascript": "typescript"}

// find is the kernelspec for a language, or of that name; "" when there is none.
func (s *specs) find(language string) string {
	if _, ok := s.Specs[language]; ok || language == "" {
		return language
	}
	if s.speaks(s.Default, language) {
		return s.Default
	}
	for _, name := range slices.Sorted(maps.Keys(s.Specs)) {
		if s.speaks(name, language) {
			return name
		}
	}
	return s.find(instead[language])
}

func (s *specs) speaks(name, language string) bool {
	one, ok := s.Specs[name]
	return ok && strings.EqualFold(one.Spec.Language, language)
}

func (s *specs) language(name string) string {
	if l := strings.ToLower(s.Specs[name].Spec.Language); l != "" {
		return l
	}
	return name
}

func (s *specs) names() string {
	return strings.Join(slices.Sorted(maps.Keys(s.Specs)), ", ")
}

// specOf is find for what a caller asked for.
func (c *control) specOf(ctx context.Context, language string) (string, error) {
	if language == "" {
		language = "python"
	}
	key := "jupyter|" + c.base + "|" + language
	if known, ok := c.host.Cache().Get(key); ok {
		return known.(string), nil
	}
	all, err := c.specs(ctx)
	if err != nil {
		return "", err
	}
	found := all.find(language)
	if found == "" {
		return "", fault.InvalidArgument("the Jupyter Server has no kernel for %s %q: it has %s", fault.Option("language"), language, all.names()).On("language")
	}
	c.host.Cache().Put(key, found)
	return found, nil
}
