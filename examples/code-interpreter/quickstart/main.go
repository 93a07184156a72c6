// Command quickstart runs code that keeps what it defines: output as it is
// printed, values, errors.
package main

import (
	"context"
	"fmt"
	"os"

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
	sandbox, err := client.Create(ctx, core.CreateOptions{Template: "code-interpreter-v1"})
	if err != nil {
		return err
	}
	defer func() { _, _ = sandbox.Kill(context.WithoutCancel(ctx)) }()

	if _, err := sandbox.RunCode(ctx, "x = 20", core.CodeOptions{}); err != nil {
		return err
	}
	execution, err := sandbox.RunCode(ctx, "print('working'); x + 22", core.CodeOptions{
		OnStdout: func(m core.OutputMessage) { fmt.Print(m.Line) },
	})
	if err != nil {
		return err
	}
	fmt.Println(execution.Text())
	if execution, err = sandbox.RunCode(ctx, "x / 0", core.CodeOptions{}); err != nil {
		return err
	}
	if execution.Error != nil {
		fmt.Println(execution.Error.Name)
	}
	return nil
}
