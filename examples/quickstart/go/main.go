// Command quickstart makes a sandbox, runs commands in it, moves files and
// reaches a server inside. It needs sandboxc in PATH, or E2B_API_KEY.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	client, err := native.NewClient(ctx, native.Options{})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()

	sandbox, err := client.Create(ctx, core.CreateOptions{})
	if err != nil {
		return err
	}
	defer func() { _, _ = sandbox.Kill(context.WithoutCancel(ctx)) }()

	result, err := sandbox.Commands.Run(ctx, "echo hello", core.RunOptions{})
	if err != nil {
		return err
	}
	fmt.Print(result.Stdout())

	if _, err := sandbox.Files.WriteText(ctx, "site/index.html", "from inside\n", core.WriteOptions{}); err != nil {
		return err
	}
	server, err := sandbox.Commands.Start(ctx, "python3 -m http.server 8000", core.RunOptions{Cwd: "/home/user/site"})
	if err != nil {
		return err
	}
	page, err := fetch(ctx, client.HTTPClient(), sandbox, 8000)
	if err != nil {
		return err
	}
	fmt.Print(page)
	_, err = server.Kill(ctx)
	return err
}

// fetch asks a port of the sandbox, which takes a moment to open.
func fetch(ctx context.Context, web *http.Client, sandbox *native.Sandbox, port int) (string, error) {
	url, err := sandbox.URL(port)
	if err != nil {
		return "", err
	}
	var last error
	for range 50 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return "", err
		}
		response, err := web.Do(request)
		if err == nil && response.StatusCode == http.StatusOK {
			defer func() { _ = response.Body.Close() }()
			text, err := io.ReadAll(response.Body)
			return string(text), err
		}
		if err == nil {
			_ = response.Body.Close()
			err = fmt.Errorf("HTTP %d", response.StatusCode)
		}
		last = err
		time.Sleep(100 * time.Millisecond)
	}
	return "", last
}
