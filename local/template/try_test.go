//go:build linux

package template

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// Try runs a script as `user` in a sandbox of a template.
func Try(ctx context.Context, s *Store, state, name, script string) (string, error) {
	e, err := isolation.Open(ctx, isolation.Config{StateDir: filepath.Join(state, "boxes"), Pool: -1, Built: s.Templates})
	if err != nil {
		return "", err
	}
	defer e.Close()
	box, err := e.Start(ctx, isolation.Spec{ID: "try", Template: name})
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	j := &job{box: box, user: "user", argv: []string{"/bin/bash", "-l", "-c", script}, output: func(b []byte) { out.Write(b) }}
	code, err := j.run(ctx)
	if err == nil && code != 0 {
		err = fmt.Errorf("exit code %d", code)
	}
	return out.String(), errors.Join(err, box.Kill())
}
