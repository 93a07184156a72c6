// Package guest is what runs inside a sandbox of the local provider: process
// 1 (mounts, limits of the process tree, the HTTP service), the process that
// starts the commands of `user` when the server is run by an ordinary user,
// and sudo. All are this same binary, told apart by argv[0]. It needs Linux.
package guest
