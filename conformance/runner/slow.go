//go:build !race

package runner

import "time"

func slow(ms int) time.Duration { return time.Duration(ms) * time.Millisecond }
