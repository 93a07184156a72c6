// Command analysis sends a table in; a picture, its data and a table come back.
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

	sales, err := os.ReadFile("sales.csv")
	if err != nil {
		return err
	}
	report, err := os.ReadFile("report.py")
	if err != nil {
		return err
	}
	if _, err := sandbox.Files.Write(ctx, "sales.csv", sales, core.WriteOptions{}); err != nil {
		return err
	}
	execution, err := sandbox.RunCode(ctx, string(report), core.CodeOptions{})
	if err != nil {
		return err
	}
	for _, result := range execution.Results {
		if err := show(result); err != nil {
			return err
		}
	}
	return nil
}

func show(result *core.Result) error {
	chart, ok := result.Chart.(*core.BarChart)
	if !ok {
		fmt.Println(result.Text)
		return nil
	}
	fmt.Println(chart.Title)
	for _, bar := range chart.Elements {
		fmt.Println(bar.Label, bar.Value)
	}
	picture, err := result.Bytes("png")
	if err != nil {
		return err
	}
	return os.WriteFile("sales.png", picture, 0o600)
}
