package interpreter

import (
	_ "embed"
	"slices"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

//go:embed prelude/python.py
var pythonPrelude string

//go:embed prelude/wrapper.py
var wrapperConfig []byte

// wrapped reports whether the kernel is ipykernel around another language, so
// that it reads wrapperConfig.
func wrapped(spec kernelspec.Spec) bool {
	return spec.IsPython() && slices.Contains(spec.Argv, "bash_kernel")
}

// prelude is what a kernel runs before its first cell; "" = nothing.
func prelude(spec kernelspec.Spec) string {
	if spec.IsPython() && spec.Language == "python" {
		return pythonPrelude
	}
	return ""
}

// waits reports whether the kernel waits for who reads what it publishes: its
// prelude or its configuration says so.
func waits(spec kernelspec.Spec) bool { return prelude(spec) != "" || wrapped(spec) }
