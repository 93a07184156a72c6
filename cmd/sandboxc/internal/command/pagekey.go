package command

import (
	"context"
	"net/http"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// askPageKey asks the running server for the key of a web origin, which it then
// lets in.
func askPageKey(ctx context.Context, info *native.ServerInfo, origin string) (string, error) {
	var answer struct{ Key string }
	status, message, err := ask(ctx, info, "/page-keys", map[string]string{"origin": origin}, &answer)
	switch {
	case err != nil:
		return "", err
	case status == http.StatusBadRequest:
		return "", fault.InvalidArgument("--page-key: %s", message)
	case answer.Key == "":
		return "", fault.New(fault.CodeProtocol, "the local server gave no key: %s", message)
	}
	return answer.Key, nil
}
