// Command languages runs several languages in one sandbox, each with a state of its
// own, and one directory of files.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

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

	for _, cell := range []struct{ language, code string }{
		{"bash", "name=world; echo hello > greeting.txt"},
		{"bash", `echo "$(cat greeting.txt), $name"`},
		{"javascript", "console.log([1, 2, 3].map((n) => n * n).join(' '))"},
	} {
		execution, err := sandbox.RunCode(ctx, cell.code, core.CodeOptions{Language: cell.language})
		if err != nil {
			return err
		}
		fmt.Print(strings.Join(execution.Logs.Stdout, ""))
	}
	return elsewhere(ctx, sandbox)
}

// elsewhere runs Python in a context of its own.
func elsewhere(ctx context.Context, sandbox *native.Sandbox) error {
	place, err := sandbox.CreateCodeContext(ctx, core.ContextOptions{Language: "python", Cwd: "/tmp"})
	if err != nil {
		return err
	}
	execution, err := sandbox.RunCode(ctx, "import os; os.getcwd()", core.CodeOptions{ContextID: place.ID})
	if err != nil {
		return err
	}
	fmt.Println(execution.Text())
	_, err = sandbox.RemoveCodeContext(ctx, place.ID)
	return err
}
