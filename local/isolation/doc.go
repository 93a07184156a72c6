// Package isolation starts, pauses and ends sandboxes on this machine: Linux
// namespaces, overlays over the host's /usr, control groups. It is the host
// side; what happens inside is package guest, which runs in the same binary
// started again.
package isolation
