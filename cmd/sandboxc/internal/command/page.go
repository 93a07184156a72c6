package command

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/hosting"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// Page is `sandboxc page`.
type Page struct {
	Path string `arg:"" optional:"" help:"Path of the page below the directory of serve --pages. Default: its index.html."`
}

// Run prints the address of a page. It is for one opening: the code in it is
// good once, for 60 s.
func (p *Page) Run(a *App) error {
	info, err := hosting.Live(a.ctx, os.Getenv)
	if err != nil {
		return err
	}
	page, err := pageURL(a.ctx, info, p.Path)
	if err != nil {
		return err
	}
	return a.Line(map[string]string{"page": page}, "%s", page)
}

// pageURL makes the address of a page, with a new code in its fragment, which a
// browser sends to nobody.
func pageURL(ctx context.Context, info *native.ServerInfo, path string) (string, error) {
	var answer struct{ Code string }
	status, message, err := ask(ctx, info, "/page-codes/new", struct{}{}, &answer)
	switch {
	case err != nil:
		return "", err
	case status == http.StatusConflict:
		return "", fault.InvalidArgument("the local server at %s (pid %d) serves no pages", info.URL, info.PID).
			Suggest("stop it with: kill %d; then: sandboxc serve --pages DIR", info.PID)
	case status == http.StatusNotFound:
		return "", fault.InvalidArgument("the local server at %s (pid %d) is of an older version, which serves no pages", info.URL, info.PID).
			Suggest("stop it with: kill %d; then: sandboxc serve --pages DIR", info.PID)
	case answer.Code == "":
		return "", fault.New(fault.CodeProtocol, "the local server gave no code: %s", message)
	}
	return info.URL + (&url.URL{Path: "/pages/" + strings.TrimLeft(path, "/")}).EscapedPath() + "#code=" + answer.Code, nil
}
