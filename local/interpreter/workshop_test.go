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
