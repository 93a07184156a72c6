// Package gateway carries requests to what listens in the sandboxes: the daemon
// on port 49983 and any other port (e2b.md 2.2 and 2.3).
package gateway
