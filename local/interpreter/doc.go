// Package interpreter is the code interpreter of a sandbox: E2B's wire of port
// 49999 (e2b.md 5) in front of real Jupyter kernels, which it starts, drives,
// interrupts and ends. It needs no Jupyter server.
//
// A context is one kernel with its variables. Its executions take turns, in
// the order in which they came. What a kernel sends is written to the client
// by the goroutine that reads it: a client that reads slowly slows the kernel
// down, and nothing is kept in between.
package interpreter
