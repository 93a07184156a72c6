package interpreter

import (
	_ "embed"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/kernelspec"
)

//go:embed prelude/python.py
var pythonPrelude string

// prelude is what a kernel runs before its first cell; "" = nothing.
func prelude(spec kernelspec.Spec) string {
	if spec.IsPython() && spec.Language == "python" {
		return pythonPrelude
	}
	return ""
}
