// Package local is the embedded provider: one server that makes real, isolated
// sandboxes on this machine and speaks E2B's wire, so that any E2B client can
// use it (e2b.md 1 and 2). A Server is the control plane, the gateway to the
// sandboxes, and the parent of them all: when it ends, they end.
package local
