//go:build !race

package instance_test

// raced says that the race detector slows everything down.
const raced = false
