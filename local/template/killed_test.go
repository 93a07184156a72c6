//go:build linux

package template_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/template"
)

// killedState tells the program below where to build, and so that it is it.
const killedState = "TEMPLATE_TEST_STATE"

// TestKilledBuilder is a program that builds until it is killed.
func TestKilledBuilder(t *testing.T) {
	state := os.Getenv(killedState)
	if state == "" {
		t.Skip("the program of the next test")
	}
	store, err := template.Open(template.Dir(state))
	require.NoError(t, err)
	steps := []template.Step{run("", "echo one > /opt/one"), run("", "echo two > /opt/two; echo up; exec sleep 321")}
	_, _ = store.Build(t.Context(), template.Recipe{Name: "killed", Steps: steps}, template.Options{
		StateDir: state, Events: func(e template.Event) { fmt.Print(string(e.Text)) },
	})
}

func TestAfterAKilledBuilderTheNextLeavesNothingOfIt(t *testing.T) {
	b := newBench(t)
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestKilledBuilder$")
	cmd.Env = append(os.Environ(), killedState+"="+b.state)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "up" {
		if strings.HasPrefix(lines.Text(), "FAIL") || lines.Text() == "PASS" {
			t.Skip("this machine refuses sandboxes")
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Equal(t, 2, b.layers(), "the layer of the first step, and what the second had begun")
	require.Eventually(t, func() bool { return exec.Command("pgrep", "-f", "^sleep 321$").Run() != nil }, 20*time.Second, 20*time.Millisecond,
		"the sandbox ends with its builder")
	_, l, err := b.build(template.Recipe{Name: "killed", Steps: []template.Step{run("", "echo one > /opt/one"), run("", "echo three > /opt/three")}}, template.Options{})
	require.NoError(t, err)
	require.Equal(t, []template.EventKind{template.Cached, template.Started, template.Done}, l.kinds)
	require.Equal(t, 2, b.layers())
	require.Empty(t, boxes(t, b.state))
	require.Equal(t, "one\nthree\n", b.inside("killed", "cat /opt/one /opt/three; ls /opt/two 2>/dev/null || true"))
}
