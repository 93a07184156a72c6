package egress

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretsOfRulesAreNotShown(t *testing.T) {
	r := Rules{EgressProxy: &Proxy{Address: "p:1", Username: "u", Password: "hunter2"}, Transform: header("k", "s3cret")}
	shown, err := json.Marshal(r.Redacted())
	require.NoError(t, err)
	log := &bytes.Buffer{}
	slog.New(slog.NewTextHandler(log, nil)).Info("x", "proxy", r.EgressProxy, "transform", r.Transform)
	for _, text := range []string{string(shown), log.String(), fmt.Sprintf("%v %+v %#v %s", r.EgressProxy, *r.EgressProxy, r.EgressProxy, r.Transform["http://a.test"][0].Transform)} {
		require.NotContains(t, text, "hunter2")
		require.NotContains(t, text, "s3cret")
	}
	require.Equal(t, "hunter2", r.EgressProxy.Password, "the rules themselves are as they were")
	require.Equal(t, "s3cret", r.Transform["http://a.test"][0].Transform.Headers["k"])
}
