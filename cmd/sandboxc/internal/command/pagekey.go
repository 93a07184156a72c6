package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// pageKeyClock bounds the question for a page's key.
const pageKeyClock = 10 * time.Second

// askPageKey asks the running server for the key of a web origin, which it then
// lets in.
func askPageKey(ctx context.Context, info *native.ServerInfo, origin string) (string, error) {
	body, err := json.Marshal(map[string]string{"origin": origin})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, info.URL+"/page-keys", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("X-API-Key", info.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req) // loopback: no proxy
	if err != nil {
		return "", fault.New(fault.CodeConnectFailed, "the local server does not answer").Because(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct{ Key, Message string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&answer); err != nil {
		return "", fault.New(fault.CodeProtocol, "the local server's answer cannot be read").Because(err)
	}
	if resp.StatusCode == http.StatusBadRequest {
		return "", fault.InvalidArgument("--page-key: %s", answer.Message)
	}
	if answer.Key == "" {
		return "", fault.New(fault.CodeProtocol, "the local server gave no key: %s", answer.Message)
	}
	return answer.Key, nil
}
