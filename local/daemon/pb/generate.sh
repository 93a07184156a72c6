#!/bin/sh
# Regenerates the code beside it. The generators are built at the versions that
# go.mod pins, so the same sources always give the same files.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN=$bin go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
GOBIN=$bin go install connectrpc.com/connect/cmd/protoc-gen-connect-go@v1.21.1
PATH=$bin:$PATH protoc -I . \
    --go_out=. --go_opt=module=github.com/agent-sandbox/agent-sandbox/local/daemon/pb \
    --connect-go_out=. --connect-go_opt=module=github.com/agent-sandbox/agent-sandbox/local/daemon/pb \
    process.proto filesystem.proto
