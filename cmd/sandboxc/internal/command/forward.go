package command

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Forward is `sandboxc forward`.
type Forward struct {
	ID   string `arg:"" help:"The sandbox."`
	Port string `arg:"" name:"port[:local]" help:"Port inside, and the port here when it is to be another."`
}

// Run listens on loopback until a signal ends it.
func (f *Forward) Run(a *App) error {
	inside, here, err := parsePorts(f.Port)
	if err != nil {
		return err
	}
	return a.withSandbox(f.ID, func(sbx *native.Sandbox) error {
		l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(here)))
		if err != nil {
			return fault.InvalidArgument("cannot listen on port %d here", here).Because(err).
				Suggest("choose another: %d:0 takes any free one", inside)
		}
		defer func() { _ = l.Close() }()
		proxy, err := newProxy(sbx, inside, a)
		if err != nil {
			return err
		}
		address := "http://" + l.Addr().String()
		if err := a.Line(map[string]any{"sandbox_id": f.ID, "port": inside, "url": address}, "%s", address); err != nil {
			return err
		}
		a.Note("leads to port %d of %s (HTTP and WebSocket), Ctrl-C ends it", inside, f.ID)
		return serveUntil(a.ctx, l, proxy)
	})
}

// headClock bounds the wait for the head of a request.
const headClock = 30 * time.Second

func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: headClock}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func parsePorts(text string) (inside, here int, err error) {
	first, second, given := strings.Cut(text, ":")
	inside, err = parsePort(first, 1)
	if err != nil || !given {
		return inside, inside, err
	}
	here, err = parsePort(second, 0)
	return inside, here, err
}

func parsePort(text string, least int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > 65535 {
		return 0, fault.InvalidArgument("a port must be from 1 to 65535, not %q", text)
	}
	return n, nil
}

// newProxy carries requests to a port of the sandbox. Through a local server the
// program inside sees the host name that the client used, which development
// servers insist on.
func newProxy(sbx *native.Sandbox, port int, a *App) (http.Handler, error) {
	h := sbx.Handle()
	text := h.URLs.Sandbox
	local := h.Provider == "local" && text != ""
	if !local {
		var err error
		if text, err = sbx.URL(port); err != nil {
			return nil, err
		}
	}
	target, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	if local {
		transport.Proxy = nil
	}
	return &httputil.ReverseProxy{
		Transport: transport, FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if local {
				r.Out.Host = r.In.Host
				r.Out.Header.Set("E2b-Sandbox-Id", sbx.ID())
				r.Out.Header.Set("E2b-Sandbox-Port", strconv.Itoa(port))
			}
			if token := sbx.TrafficToken(); token != "" {
				r.Out.Header.Set("E2b-Traffic-Access-Token", token)
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			a.trace("%s: %v", r.URL.Path, err)
			http.Error(w, fmt.Sprintf("sandboxc forward: port %d of %s cannot be reached", port, sbx.ID()), http.StatusBadGateway)
		},
	}, nil
}
