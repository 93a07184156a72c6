//go:build race

package runner

import "time"

// slow allows for the race detector.
func slow(ms int) time.Duration { return time.Duration(ms) * 3 * time.Millisecond }
