package instance_test

import (
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/require"
)

// What core.wasm may weigh.
const (
	mostRaw    = 5_300_000
	mostBrotli = 1_100_000
)

func TestTheArtifactKeepsItsBudget(t *testing.T) {
	require.LessOrEqual(t, len(artifact.Bytes), mostRaw)
	if raced {
		t.Skip("packing takes minutes under the race detector")
	}
	t.Parallel()
	var packed counter
	w := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: brotli.BestCompression, LGWin: 24})
	_, err := w.Write(artifact.Bytes)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	t.Logf("%d bytes, %d packed", len(artifact.Bytes), packed)
	require.LessOrEqual(t, int(packed), mostBrotli)
}

// counter is a writer that only counts.
type counter int

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

var _ io.Writer = (*counter)(nil)

func TestTheArtifactNeedsAndOffersWhatTheABISays(t *testing.T) {
	for _, name := range artifact.Imports() {
		require.True(t, strings.HasPrefix(name, "wasi_snapshot_preview1."), name)
	}
	require.Equal(t, map[string]string{
		"memory": "memory", "_initialize": "0 -> 0", "abi_version": "0 -> 1", "in_buf": "1 -> 1", "in_cap": "0 -> 1", "run": "1 -> 1",
	}, artifact.Exports())
	needed := map[string]bool{}
	for _, name := range artifact.Imports() {
		needed[strings.TrimPrefix(name, "wasi_snapshot_preview1.")] = true
	}
	for _, never := range []string{"path_open", "sock_accept", "sock_recv", "sock_send"} {
		require.NotContains(t, slices.Sorted(maps.Keys(needed)), never)
	}
}

func TestNothingImpureIsInTheArtifact(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "../../wasm")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	for _, impure := range []string{
		"net", "net/http", "os/exec", "crypto/tls", "log", "log/slog", "syscall/js", "mime/multipart", "net/textproto", "google.golang.org/protobuf/proto",
		"google.golang.org/protobuf/reflect/protoreflect", "google.golang.org/protobuf/runtime/protoimpl", "connectrpc.com/connect",
		"github.com/coder/websocket", "github.com/agent-sandbox/agent-sandbox/native", "github.com/agent-sandbox/agent-sandbox/wasm/host",
	} {
		require.NotContains(t, deps, impure)
	}
}
