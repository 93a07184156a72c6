// Package jupyter speaks the Jupyter messaging protocol, version 5, to one
// kernel: signed messages over ZeroMQ sockets that the kernel has bound.
package jupyter
