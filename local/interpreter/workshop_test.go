package interpreter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/daemon"
	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

func TestDenoMakesNoMachineCodeWhereItMayNotReserveMemory(t *testing.T) {
	deno := kernelspec.Spec{Name: "deno", Argv: []string{"/usr/local/bin/deno", "jupyter"}}
	for name, c := range map[string]struct {
		most int64
		env  map[string]string
		spec kernelspec.Spec
		want string
	}{
		"no bound on a process": {0, nil, deno, ""},
		"a bound that is wide":  {4 << 30, nil, deno, ""},
		"a bound that is small": {1 << 30, nil, deno, "--jitless"},
		"flags of the user":     {1 << 30, map[string]string{"DENO_V8_FLAGS": "--expose-gc"}, deno, "--expose-gc"},
		"another kernel":        {1 << 30, nil, kernelspec.Spec{Name: "python3", Argv: []string{"python3"}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &workshop{options: &Options{ProcessMemory: c.most, Env: func() map[string]string { return c.env }}}
			require.Equal(t, c.want, w.kernelEnvironment(daemon.User{}, c.spec)["DENO_V8_FLAGS"])
		})
	}
}

func TestDenoColoursNoResultsUnlessTheSandboxAsksForIt(t *testing.T) {
	deno := kernelspec.Spec{Name: "deno", Argv: []string{"/usr/local/bin/deno", "jupyter"}}
	for name, c := range map[string]struct {
		env  map[string]string
		spec kernelspec.Spec
		want map[string]string
	}{
		"as a rule":        {nil, deno, map[string]string{"NO_COLOR": "1"}},
		"wanted":           {map[string]string{"FORCE_COLOR": "1"}, deno, map[string]string{"FORCE_COLOR": "1"}},
		"wanted by Deno's": {map[string]string{"NO_COLOR": ""}, deno, map[string]string{"NO_COLOR": ""}},
		"another kernel":   {nil, kernelspec.Spec{Name: "bash", Argv: []string{"bash"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := &workshop{options: &Options{Env: func() map[string]string { return c.env }}}
			env := w.kernelEnvironment(daemon.User{}, c.spec)
			got := map[string]string{}
			for _, k := range []string{"NO_COLOR", "FORCE_COLOR"} {
				if v, ok := env[k]; ok {
					got[k] = v
				}
			}
			require.Len(t, got, len(c.want))
			for k, v := range c.want {
				require.Equal(t, v, got[k])
			}
		})
	}
}
