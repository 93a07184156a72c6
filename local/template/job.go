//go:build linux

package template

import (
	"context"
	"encoding/base64"
	"errors"
	"net"
	"net/http"

	"connectrpc.com/connect"

	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
	"github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process/processconnect"
	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// job is a command in a build's sandbox.
type job struct {
	box   *isolation.Box
	token string
	user  string
	argv  []string
	env   map[string]string
	// output gets what it writes, as it comes.
	output func([]byte)
}

// errNoEnd is returned when the sandbox ended before the command.
var errNoEnd = errors.New("the sandbox ended before the command, for want of memory or processes")

// run runs it to its end and gives the exit code, 128 and the signal's number
// for one that was killed.
func (j *job) run(ctx context.Context) (code int, err error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return j.box.Dial(ctx) },
	}
	defer transport.CloseIdleConnections()
	client := processconnect.NewProcessClient(&http.Client{Transport: transport}, "http://sandbox")
	stdin := false
	request := connect.NewRequest(&process.StartRequest{
		Process: &process.ProcessConfig{Cmd: j.argv[0], Args: j.argv[1:], Envs: j.env},
		Stdin:   &stdin,
	})
	request.Header().Set("X-Access-Token", j.token)
	request.Header().Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(j.user+":")))
	stream, err := client.Start(ctx, request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = stream.Close() }()
	for stream.Receive() {
		event := stream.Msg().GetEvent()
		if data := event.GetData(); data != nil {
			j.output(append(data.GetStdout(), data.GetStderr()...))
		}
		if end := event.GetEnd(); end != nil {
			return exitCode(end), nil
		}
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return 0, errors.Join(errNoEnd, stream.Err())
}

// unknownExit is the code of an end that has none.
const unknownExit = 255

func exitCode(end *process.ProcessEvent_EndEvent) int {
	if code := int(end.GetExitCode()); code != 0 || end.GetExited() {
		return code
	}
	return unknownExit
}
