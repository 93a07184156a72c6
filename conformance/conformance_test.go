package conformance_test

import (
	"crypto/rand"
	"flag"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/agent-sandbox/agent-sandbox/conformance/driver"
	"github.com/agent-sandbox/agent-sandbox/conformance/runner"
	"github.com/agent-sandbox/agent-sandbox/wasm/host"
	"github.com/agent-sandbox/agent-sandbox/wasm/shell"
)

// Cases wait more than they compute.
const atOnce = "24"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", atOnce); err != nil {
		panic(err)
	}
	// Where the machine's time is UTC, a local time would pass for one.
	time.Local = time.FixedZone("", 8*60*60)
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			_, _ = os.Stderr.WriteString("goroutines are left behind: " + err.Error() + "\n")
			code = 1
		}
	}
	built.remove()
	os.Exit(code)
}

func TestNative(t *testing.T) { conform(t, driver.Native()) }

// TestFrames runs the core behind its frames, as ordinary Go code.
func TestFrames(t *testing.T) {
	random := func(b []byte) { _, _ = rand.Read(b) }
	conformFrames(t, "frames", host.Native(shell.Options{Rand: random, Now: time.Now}))
}

func conformFrames(t *testing.T, name string, machine func() (host.Machine, error)) {
	d, err := driver.NewFrames(name, machine)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	conform(t, d)
}

func conform(t *testing.T, d runner.Driver) {
	cases, err := runner.Load("cases")
	require.NoError(t, err)
	whole, err := runner.LoadGolden("golden")
	require.NoError(t, err)
	cases = append(cases, whole...)
	require.NotEmpty(t, cases)
	known, err := runner.KnownFailures(filepath.Join("known", d.Name()+".txt"))
	require.NoError(t, err)
	titles, empty := map[string]bool{}, t.TempDir()
	for _, c := range cases {
		titles[c.Title()] = true
		t.Run(c.Title(), func(t *testing.T) {
			t.Parallel()
			judge(t, attempt(t, d, c, empty), known[c.Title()], knows(known, c))
		})
	}
	for title := range known {
		require.True(t, titles[title], "known/%s.txt names a case that does not exist: %s", d.Name(), title)
	}
}

// attempts is how often a case with clocks may try: on a busy machine a wall clock
// lies, and what is wrong is wrong every time.
const attempts = 3

// alone is held by a case that tries again: nothing else of ours runs then.
var alone sync.RWMutex

func attempt(t *testing.T, d runner.Driver, c *runner.Case, empty string) (problems []string) {
	for n := 1; ; n++ {
		problems = try(t, d, c, empty, n == 1)
		if len(problems) == 0 || !c.Timed(d) || n == attempts {
			return problems
		}
		t.Logf("attempt %d: %v", n, problems)
	}
}

// try runs a case in a directory of its own where it has files, else in an empty one.
func try(t *testing.T, d runner.Driver, c *runner.Case, dir string, first bool) []string {
	if c.Settings.DotEnv != "" || c.Settings.Config != "" {
		dir = t.TempDir()
	}
	if first {
		alone.RLock()
		defer alone.RUnlock()
	} else {
		alone.Lock()
		defer alone.Unlock()
	}
	return runner.Run(d, c, dir)
}

func knows(known map[string]string, c *runner.Case) bool {
	_, ok := known[c.Title()]
	return ok
}

func judge(t *testing.T, problems []string, why string, known bool) {
	switch {
	case known && len(problems) == 0:
		t.Errorf("it passes now: take it out of the known failures (%s)", why)
	case known:
		t.Skipf("known failure: %s: %v", why, problems)
	}
	for _, p := range problems {
		t.Error(p)
	}
}
