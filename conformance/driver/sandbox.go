package driver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/core/handle"
)

func b64(b []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(b)) }

// methods is the method table of conformance/README.md.
var methods = map[string]method{
	"settings.resolve":       resolve,
	"sandbox.capabilities":   capabilities,
	"sandbox.create":         create,
	"sandbox.connect":        connect,
	"sandbox.resume":         connect,
	"sandbox.open":           open,
	"sandbox.to_json":        handleOf,
	"sandbox.describe":       describe,
	"sandbox.kill":           kill,
	"sandbox.get_info":       info,
	"sandbox.set_timeout":    setTimeout,
	"sandbox.keep_alive":     keepAlive,
	"sandbox.pause":          pause,
	"sandbox.is_running":     isRunning,
	"sandbox.get_metrics":    metrics,
	"sandbox.update_network": updateNetwork,
	"sandbox.list":           list,
	"sandbox.get_host":       hostOf,
	"sandbox.get_url":        urlOf,
	"sandbox.download_url":   downloadURL,
	"sandbox.upload_url":     uploadURL,

	"sandbox.run_code":               runCode,
	"sandbox.create_code_context":    createContext,
	"sandbox.list_code_contexts":     listContexts,
	"sandbox.restart_code_context":   restartContext,
	"sandbox.remove_code_context":    removeContext,
	"sandbox.interrupt_code_context": interruptContext,

	"commands.run":          run,
	"commands.start":        start,
	"commands.connect":      attach,
	"commands.wait":         wait,
	"commands.disconnect":   disconnect,
	"commands.list":         listProcesses,
	"commands.kill":         killProcess,
	"commands.send_signal":  signal,
	"commands.send_stdin":   sendStdin,
	"commands.stream_stdin": streamStdin,
	"commands.close_stdin":  closeStdin,

	"pty.create":       startPTY,
	"pty.stream_input": streamInput,
	"pty.connect":      attachPTY,
	"pty.send_input":   sendInput,
	"pty.resize":       resize,
	"pty.kill":         killPTY,

	"files.read":        read,
	"files.write":       write,
	"files.write_files": writeMany,
	"files.list":        listDir,
	"files.get_info":    stat,
	"files.exists":      exists,
	"files.make_dir":    makeDir,
	"files.rename":      move,
	"files.remove":      remove,
	"files.watch_dir":   watch,
	"files.poll_dir":    poll,
	"files.poll_events": pollEvents,
	"files.poll_stop":   pollStop,
}

func resolve(c *call) (any, error) {
	s, err := c.back.settings()
	if err != nil {
		return nil, err
	}
	from := map[string]string{}
	for _, key := range []string{"provider", "api_key", "api_url", "sandbox_url", "domain", "region", "min_isolation", "debug"} {
		from[key] = string(s.From(key))
	}
	return map[string]any{
		"provider": s.Provider, "api_url": s.APIURL, "sandbox_url": s.SandboxURL, "domain": s.Domain,
		"region": s.Region, "min_isolation": s.MinIsolation, "debug": s.Debug, "retries": s.Retries,
		"request_timeout_ms": s.RequestTimeout.Seconds() * 1000, "idle_timeout_ms": s.IdleTimeout.Seconds() * 1000, "from": from,
	}, nil
}

func capabilities(c *call) (any, error) {
	return c.client(func(_ context.Context, client *core.Client) (any, error) { return client.Capabilities(), nil })
}

type createJSON struct {
	Template            string            `json:"template"`
	TimeoutMS           *millis           `json:"timeout_ms"`
	Metadata            map[string]string `json:"metadata"`
	Envs                map[string]string `json:"envs"`
	AllowInternetAccess *bool             `json:"allow_internet_access"`
	Network             *core.Network     `json:"network"`
	OnTimeout           string            `json:"on_timeout"`
	KeepMemory          *bool             `json:"keep_memory"`
	AutoResume          *bool             `json:"auto_resume"`
	IdempotencyKey      string            `json:"idempotency_key"`
}

func create(c *call) (any, error) {
	var q createJSON
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.taken(func(ctx context.Context, client *core.Client) (*core.Sandbox, error) {
		return client.Create(ctx, core.CreateOptions{
			Template: q.Template, Timeout: q.TimeoutMS.duration(), Metadata: q.Metadata, Envs: q.Envs,
			AllowInternetAccess: q.AllowInternetAccess, Network: q.Network, OnTimeout: q.OnTimeout, KeepMemory: q.KeepMemory,
			AutoResume: q.AutoResume, IdempotencyKey: q.IdempotencyKey,
		})
	})
}

// taken makes what fn gives the current sandbox.
func (c *call) taken(fn func(context.Context, *core.Client) (*core.Sandbox, error)) (any, error) {
	v, err := c.client(func(ctx context.Context, client *core.Client) (any, error) {
		s, err := fn(ctx, client)
		if err != nil {
			return nil, err
		}
		return s.Handle(), nil
	})
	if err != nil {
		return nil, err
	}
	h := v.(handle.Handle)
	c.s.remember(h)
	return described(h), nil
}

func described(h handle.Handle) map[string]any {
	return map[string]any{
		"sandbox_id": h.SandboxID, "template": h.Template, "isolation": h.Isolation, "envd_version": h.EnvdVersion,
		"domain": h.Domain, "provider": h.Provider, "secured": h.Tokens.Envd != "",
	}
}

func connect(c *call) (any, error) {
	var q struct {
		SandboxID string  `json:"sandbox_id"`
		TimeoutMS *millis `json:"timeout_ms"`
		Reboot    bool    `json:"reboot"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.taken(func(ctx context.Context, client *core.Client) (*core.Sandbox, error) {
		return client.Connect(ctx, q.SandboxID, core.ConnectOptions{Timeout: q.TimeoutMS.duration(), Reboot: q.Reboot})
	})
}

func open(c *call) (any, error) {
	var q struct {
		Handle json.RawMessage `json:"handle"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.taken(func(_ context.Context, client *core.Client) (*core.Sandbox, error) {
		h, err := handle.FromJSON(q.Handle)
		if err != nil {
			return nil, err
		}
		return client.Open(h)
	})
}

func handleOf(c *call) (any, error) {
	h, err := c.s.current()
	if err != nil {
		return nil, err
	}
	b, err := h.ToJSON()
	return json.RawMessage(b), err
}

// describe is what the sandbox prints as.
func describe(c *call) (any, error) {
	return c.sandbox(func(_ context.Context, s *core.Sandbox) (any, error) { return s.String(), nil })
}

func (c *call) id() (string, error) {
	var q struct {
		SandboxID *string `json:"sandbox_id"`
	}
	_ = json.Unmarshal(c.params, &q)
	if q.SandboxID != nil {
		return *q.SandboxID, nil
	}
	h, err := c.s.current()
	if err != nil {
		return "", err
	}
	return h.SandboxID, nil
}

func kill(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) { return client.Kill(ctx, id) })
}

func info(c *call) (any, error) {
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) { return client.Info(ctx, id) })
}

func (c *call) life(fn func(context.Context, *core.Client, string, time.Duration) error) (any, error) {
	var q struct {
		SandboxID string `json:"sandbox_id"`
		TimeoutMS millis `json:"timeout_ms"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) {
		return nil, fn(ctx, client, id, q.TimeoutMS.or0())
	})
}

func setTimeout(c *call) (any, error) {
	return c.life(func(ctx context.Context, client *core.Client, id string, d time.Duration) error {
		return client.SetTimeout(ctx, id, d)
	})
}

func keepAlive(c *call) (any, error) {
	return c.life(func(ctx context.Context, client *core.Client, id string, d time.Duration) error {
		return client.KeepAlive(ctx, id, d)
	})
}

func pause(c *call) (any, error) {
	var q struct {
		SandboxID  string `json:"sandbox_id"`
		KeepMemory *bool  `json:"keep_memory"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	id, err := c.id()
	if err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) {
		return client.Pause(ctx, id, core.PauseOptions{DropMemory: q.KeepMemory != nil && !*q.KeepMemory})
	})
}

func isRunning(c *call) (any, error) {
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return s.IsRunning(ctx) })
}

func metrics(c *call) (any, error) {
	var q struct{ Start, End time.Time }
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) {
		return s.Metrics(ctx, q.Start, q.End)
	})
}

func updateNetwork(c *call) (any, error) {
	var n core.Network
	if err := c.take(&n); err != nil {
		return nil, err
	}
	return c.sandbox(func(ctx context.Context, s *core.Sandbox) (any, error) { return nil, s.UpdateNetwork(ctx, n) })
}

// list walks up to "pages" pages; 0 is all.
func list(c *call) (any, error) {
	var q struct {
		Metadata     map[string]string `json:"metadata"`
		State        []string          `json:"state"`
		Template     string            `json:"template"`
		StartedAfter time.Time         `json:"started_after"`
		Ascending    bool              `json:"ascending"`
		Limit        int               `json:"limit"`
		NextToken    string            `json:"next_token"`
		Pages        int               `json:"pages"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.client(func(ctx context.Context, client *core.Client) (any, error) {
		pages, err := client.List(core.ListOptions{
			Metadata: q.Metadata, State: q.State, Template: q.Template, StartedAfter: q.StartedAfter,
			Ascending: q.Ascending, Limit: q.Limit, NextToken: q.NextToken,
		})
		if err != nil {
			return nil, err
		}
		items := []core.Info{}
		for n := 0; n == 0 || n < q.Pages || (q.Pages == 0 && pages.HasNext()); n++ {
			page, err := pages.NextItems(ctx)
			if err != nil {
				return nil, err
			}
			items = append(items, page...)
		}
		return map[string]any{"items": items, "has_next": pages.HasNext(), "next_token": pages.NextToken()}, nil
	})
}

func hostOf(c *call) (any, error) {
	return c.port(func(s *core.Sandbox, port int) (string, error) { return s.Host(port) })
}

func urlOf(c *call) (any, error) {
	return c.port(func(s *core.Sandbox, port int) (string, error) { return s.URL(port) })
}

func (c *call) port(fn func(*core.Sandbox, int) (string, error)) (any, error) {
	var q struct{ Port int }
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(_ context.Context, s *core.Sandbox) (any, error) { return fn(s, q.Port) })
}

func downloadURL(c *call) (any, error) {
	return c.signed(func(s *core.Sandbox, path string, o core.URLOptions) (string, error) { return s.DownloadURL(path, o) })
}

func uploadURL(c *call) (any, error) {
	return c.signed(func(s *core.Sandbox, path string, o core.URLOptions) (string, error) { return s.UploadURL(path, o) })
}

func (c *call) signed(fn func(*core.Sandbox, string, core.URLOptions) (string, error)) (any, error) {
	var q struct {
		Path      string
		User      string
		ExpiresMS *millis `json:"expires_ms"`
	}
	if err := c.take(&q); err != nil {
		return nil, err
	}
	return c.sandbox(func(_ context.Context, s *core.Sandbox) (any, error) {
		return fn(s, q.Path, core.URLOptions{User: q.User, Expires: q.ExpiresMS.or0()})
	})
}
