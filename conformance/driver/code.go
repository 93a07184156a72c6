package driver

import (
	"context"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
)

type codeJSON struct {
	Code             string            `json:"code"`
	Language         string            `json:"language"`
	ContextID        string            `json:"context_id"`
	Envs             map[string]string `json:"envs"`
	TimeoutMS        *millis           `json:"timeout_ms"`
	IdleTimeoutMS    *millis           `json:"idle_timeout_ms"`
	RequestTimeoutMS *millis           `json:"request_timeout_ms"`
	On               []string          `json:"on"`
}

func (q *codeJSON) options(emit func(string, any)) core.CodeOptions {
	o := core.CodeOptions{
		Language: q.Language, ContextID: q.ContextID, Envs: q.Envs,
		Timeout: q.TimeoutMS.duration(), IdleTimeout: q.IdleTimeoutMS.duration(), RequestTimeout: q.RequestTimeoutMS.duration(),
	}
	for _, kind := range q.On {
		switch kind {
		case "stdout_text":
			o.OnStdout = func(m core.OutputMessage) { emit(kind, m.Line) }
		case "stderr_text":
			o.OnStderr = func(m core.OutputMessage) { emit(kind, m.Line) }
		case "result":
			o.OnResult = func(r *core.Result) { emit(kind, r.Raw) }
		case "error":
			o.OnError = func(e *core.CodeError) { emit(kind, e) }
		}
	}
	return o
}

func runCode(c *call) (any, error) {
	var q codeJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		x, err := s.RunCode(ctx, q.Code, q.options(c.emit))
		if err != nil {
			return nil, err
		}
		return execution(x), nil
	})
}

// execution is what code gave, as a case sees it.
func execution(x *core.Execution) map[string]any {
	if x == nil {
		return nil
	}
	results := []any{}
	for _, r := range x.Results {
		results = append(results, map[string]any{"formats": orNone(r.Formats()), "is_main_result": r.IsMainResult, "raw": r.Raw, "extra": r.Extra})
	}
	out, err := strings.Join(x.Logs.Stdout, ""), strings.Join(x.Logs.Stderr, "")
	m := map[string]any{"results": results, "text": x.Text(), "stdout_bytes": []byte(out), "stderr_bytes": []byte(err)}
	if len(out)+len(err) <= longText {
		m["logs"] = map[string]any{"stdout": orNone(x.Logs.Stdout), "stderr": orNone(x.Logs.Stderr)}
	}
	if x.Error != nil {
		m["error"] = x.Error
	}
	if x.Count != 0 {
		m["execution_count"] = x.Count
	}
	return m
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func createContext(c *call) (any, error) {
	var q struct {
		Language string `json:"language"`
		Cwd      string `json:"cwd"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return s.CreateCodeContext(ctx, core.ContextOptions(q))
	})
}

func listContexts(c *call) (any, error) {
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return s.ListCodeContexts(ctx) })
}

// inContext runs fn with the context that the parameters name.
func (c *call) inContext(fn func(ctx context.Context, s *core.Sandbox, id string) (any, error)) (any, error) {
	var q struct {
		ContextID string `json:"context_id"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return fn(ctx, s, q.ContextID) })
}

func restartContext(c *call) (any, error) {
	return c.inContext(func(ctx context.Context, s *core.Sandbox, id string) (any, error) {
		return nil, s.RestartCodeContext(ctx, id)
	})
}

func removeContext(c *call) (any, error) {
	return c.inContext(func(ctx context.Context, s *core.Sandbox, id string) (any, error) {
		return s.RemoveCodeContext(ctx, id)
	})
}

func interruptContext(c *call) (any, error) {
	return c.inContext(func(ctx context.Context, s *core.Sandbox, id string) (any, error) {
		return s.InterruptCodeContext(ctx, id)
	})
}

// wants tells whether a case passes a callback of a kind.
func wants(on []string, kind string) bool { return slices.Contains(on, kind) }
