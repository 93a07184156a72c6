package hosting

import (
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// PoolVariable says how many sandboxes with a warm interpreter a server keeps,
// where no flag does.
const PoolVariable = "SANDBOX_INTERPRETER_POOL"

// maxInterpreterPool bounds what somebody may ask for: each is a process of some
// 100 MB.
const maxInterpreterPool = 64

// askedPool is what was asked for, by flag or variable; nil = nothing.
func askedPool(flag *int, getenv func(string) string) (*int, error) {
	name, n := "--interpreter-pool", flag
	if n == nil {
		text := getenv(PoolVariable)
		if text == "" {
			return nil, nil
		}
		name = PoolVariable
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fault.InvalidArgument("%s must be a number from 0 to %d, not %q", name, maxInterpreterPool, text)
		}
		n = &number
	}
	if *n < 0 || *n > maxInterpreterPool {
		return nil, fault.InvalidArgument("%s must be a number from 0 to %d, not %d", name, maxInterpreterPool, *n)
	}
	return n, nil
}

// interpreterPool is the setting in local.Options' words.
func (o *Options) interpreterPool() (int, error) {
	asked, err := askedPool(o.InterpreterPool, o.Getenv)
	switch {
	case err != nil:
		return 0, err
	case o.Pool < 0, asked != nil && *asked == 0:
		return -1, nil
	case asked == nil:
		return 0, nil
	}
	return *asked, nil
}
