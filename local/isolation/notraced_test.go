//go:build linux && !race

package isolation_test

const raced = false
