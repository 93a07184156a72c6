// Package pb holds the schema of the daemon's two Connect services (e2b.md 3.4
// and 3.5). The folders below it are generated: change the .proto files and run
// go generate, never the code.
package pb

//go:generate ./generate.sh
