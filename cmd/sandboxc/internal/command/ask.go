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

// askClock bounds a question to the local server about keys and codes.
const askClock = 10 * time.Second

// ask posts a JSON question to the running server, as its owner, and decodes
// the answer. A refusal is given as its status and the server's words.
func ask(ctx context.Context, info *native.ServerInfo, path string, question, answer any) (status int, message string, err error) {
	body, err := json.Marshal(question)
	if err != nil {
		return 0, "", err
	}
	return exchange(ctx, info, http.MethodPost, path, bytes.NewReader(body), answer)
}

// inquire is ask with GET.
func inquire(ctx context.Context, info *native.ServerInfo, path string, answer any) (status int, message string, err error) {
	return exchange(ctx, info, http.MethodGet, path, nil, answer)
}

func exchange(ctx context.Context, info *native.ServerInfo, method, path string, body io.Reader, answer any) (status int, message string, err error) {
	ctx, cancel := context.WithTimeout(ctx, askClock)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, info.URL+path, body)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("X-API-Key", info.APIKey)
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req) // loopback: no proxy
	if err != nil {
		return 0, "", fault.New(fault.CodeConnectFailed, "the local server does not answer").Because(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && resp.StatusCode < 300 {
		return resp.StatusCode, "", unreadable(json.Unmarshal(text, answer))
	}
	var refusal struct{ Message string }
	if err == nil {
		err = json.Unmarshal(text, &refusal)
	}
	return resp.StatusCode, refusal.Message, unreadable(err)
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return fault.New(fault.CodeProtocol, "the local server's answer cannot be read").Because(err)
}
