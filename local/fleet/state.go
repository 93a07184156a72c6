package fleet

// State is where a sandbox is in its life.
type State int

// The states. A sandbox enters the fleet running and leaves it when Killing
// has ended.
const (
	Running State = iota
	Pausing
	Paused
	Resuming
	Killing
)

// Settled reports whether the state lasts until somebody acts.
func (s State) Settled() bool { return s == Running || s == Paused }

// Awake reports whether E2B's two-valued state is running.
func (s State) Awake() bool { return s == Running || s == Pausing }

// String names the state in messages.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Pausing:
		return "pausing"
	case Paused:
		return "paused"
	case Resuming:
		return "resuming"
	default:
		return "being killed"
	}
}
