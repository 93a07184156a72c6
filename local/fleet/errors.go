package fleet

import (
	"fmt"
)

// NotFoundError says that there is no such sandbox (any more).
type NotFoundError struct {
	ID string
	// Fate says what became of it, "" when the fleet never knew it.
	Fate string
}

// Error names the sandbox and its fate.
func (e *NotFoundError) Error() string {
	if e.Fate == "" {
		return fmt.Sprintf("sandbox %q was not found", e.ID)
	}
	return fmt.Sprintf("sandbox %q was not found: %s", e.ID, e.Fate)
}

// StateError says that the sandbox is in a state in which the call is not
// possible.
type StateError struct {
	ID    string
	State State
}

// Error names the sandbox and its state.
func (e *StateError) Error() string {
	return fmt.Sprintf("sandbox %q is %s", e.ID, e.State)
}
