package interpreter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAWarmKernelBecomesItsOwners(t *testing.T) {
	s := serveKernels(t)
	s.env["GONE"], s.env["A"] = "before", "before"
	require.NoError(t, s.service.Warm(t.Context()))
	c, err := s.service.contexts.forLanguage("python")
	require.NoError(t, err)
	k := c.kernel
	delete(s.env, "GONE")
	s.env["A"], s.env["B"] = "mine", "漢"
	require.NoError(t, s.service.Claim())
	r := s.run("import os; [os.environ.get(n) for n in ('GONE', 'A', 'B')]")
	require.Equal(t, "[None, 'mine', '漢']", r.text())
	require.Equal(t, 1, r.Count)
	require.Empty(t, r.Stderr)
	require.Same(t, k, c.kernel, "it is the one that was warm")
	require.Equal(t, "[]", s.run("[n for n in dir() if 'sandbox' in n]").text())
}

func TestAClaimRenewsWhatIsRandom(t *testing.T) {
	s := serveKernels(t)
	require.NoError(t, s.service.Warm(t.Context()))
	s.run(`import random, tempfile, sys, types
random.seed(1); state = random.getstate()
tempfile._get_candidate_names(); names = tempfile._name_sequence
seeded = []
sys.modules['numpy.random'] = types.SimpleNamespace(seed=lambda: seeded.append(1))`)
	require.NoError(t, s.service.Claim())
	require.Equal(t, "(False, False, 1)", s.run("random.getstate() == state, tempfile._name_sequence is names, len(seeded)").text())
}

func TestAKernelThatCannotBeClaimedIsReplaced(t *testing.T) {
	s := serveKernels(t)
	require.NoError(t, s.service.Warm(t.Context()))
	s.run("import time; del time.tzset; x = 1")
	require.NoError(t, s.service.Claim())
	r := s.run("'x' in dir()")
	require.Equal(t, "False", r.text())
	require.Empty(t, r.Stderr, "nobody had seen the old one")
}

func TestWarmWithoutKernelsFails(t *testing.T) {
	s := serveKernels(t)
	s.env["PATH"] = "/nowhere"
	var missing *noKernelError
	require.ErrorAs(t, s.service.Warm(t.Context()), &missing)
	require.NoError(t, s.service.Claim())
}
