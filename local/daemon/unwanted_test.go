package daemon

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func kill(tag string) string {
	return fmt.Sprintf(`{"process":{"tag":%q},"signal":"SIGNAL_SIGKILL"}`, tag)
}

func tagged(tag, script string) string {
	return fmt.Sprintf(`{"tag":%q,"process":{"cmd":"/bin/sh","args":["-c",%q]}}`, tag, script)
}

func TestAKillThatOvertakesTheStartStopsIt(t *testing.T) {
	r := newRig(t)
	const once = "run-0123456789abcdef01234567"
	require.Equal(t, 200, r.rpc("process.Process/SendSignal", kill(once)).status, "who left need not ask again")
	got := r.stream("process.Process/Start", tagged(once, "sleep 100"))
	require.Equal(t, []string{`{"error":{"code":"canceled","message":"the command was killed before it started"}}`}, got)
	require.Equal(t, `{}`, r.rpc("process.Process/List", `{}`).body)
}

func TestATagOfAUsersOwnMayBeUsedAgain(t *testing.T) {
	r := newRig(t)
	require.Equal(t, 404, r.rpc("process.Process/SendSignal", kill("mine")).status)
	require.Len(t, r.stream("process.Process/Start", tagged("mine", "true")), 3)
}

func TestWhatIsUnwantedIsForgottenInTimeAndInNumber(t *testing.T) {
	var u unwanted
	name := func(n int) *string { s := fmt.Sprintf("run-%024x", n); return &s }
	for n := range maxUnwanted + 10 {
		u.add(*name(n))
	}
	require.False(t, u.has(name(0)))
	require.True(t, u.has(name(maxUnwanted+9)))
	require.LessOrEqual(t, len(u.since), maxUnwanted)
	for tag := range u.since {
		u.since[tag] = time.Now().Add(-2 * keepUnwanted)
	}
	u.add(*name(1))
	require.Len(t, u.since, 1)
	require.Len(t, u.order, 1)
	require.False(t, u.has(nil))
}
