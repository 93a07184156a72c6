// Command server is the local provider on a free loopback port, for tests that
// bring their own client: it prints the shell lines that point an E2B client at
// it and serves until it is told to stop.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-sandbox/agent-sandbox/local"
	"github.com/agent-sandbox/agent-sandbox/local/guest"
)

func main() {
	if handled, code := guest.Main(os.Args); handled {
		os.Exit(code)
	}
	state := flag.String("state", "", "the server's own directory")
	flag.Parse()
	if err := serve(*state); err != nil {
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
}

func serve(state string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	key := "e2b_" + fmt.Sprintf("%x", rand.Text())
	srv, err := local.New(ctx, local.Options{
		StateDir: state, APIKey: key, Internet: true, Registries: true,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return errors.Join(err, srv.Close())
	}
	url := "http://" + l.Addr().String()
	fmt.Printf("export E2B_API_URL=%s E2B_SANDBOX_URL=%s E2B_API_KEY=%s\n", url, url, key)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	return errors.Join(err, srv.Close())
}
