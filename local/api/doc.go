// Package api holds the messages of the control plane that E2B's clients speak
// (e2b.md 1.2) and the rules that bind them. It does no I/O.
package api
