// Package runner loads the conformance cases, plays their peer on loopback
// sockets, calls a driver and checks what came of it. The format is described
// in conformance/README.md; a case holds nothing of any language.
package runner
