//go:build linux && race

package isolation_test

// raced: every process of a sandbox carries the race detector.
const raced = true
