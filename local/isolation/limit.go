//go:build linux

package isolation

// Limit is one limit of a sandbox and whether it holds.
type Limit struct {
	// Name is memory, cpu, pids or disk.
	Name string
	// Value in bytes, microseconds of CPU time in 100 ms, or a count.
	Value string
	// Enforced is set when the system stops the sandbox at the limit.
	Enforced bool
	// Why says what stands in the way, or how a limit holds otherwise.
	Why string
}
