package interpreter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestEverythingAtOnce does what clients may do to three contexts, all at the
// same time, and looks for streams without an end and for what is left behind.
func TestEverythingAtOnce(t *testing.T) {
	none := goleak.IgnoreCurrent()
	t.Run("at once", func(t *testing.T) { everythingAtOnce(t) })
	http.DefaultClient.CloseIdleConnections()
	goleak.VerifyNone(t, none)
}

func everythingAtOnce(t *testing.T) {
	s := serveKernels(t)
	rounds := 6
	if os.Getenv("SOAK") != "" {
		rounds = 60
	}
	ids := []string{s.create(params{}).ID, s.create(params{}).ID}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(worker)))
			for round := range rounds {
				if err := s.anything(r, ids[r.IntN(len(ids))]); err != nil {
					t.Errorf("worker %d, round %d: %v", worker, round, err)
				}
			}
		})
	}
	all.Wait()
	for _, id := range ids {
		require.Equal(t, "2", s.run("1+1", params{"context_id": id}).text())
	}
}

// anything does one thing to a context.
func (s *served) anything(r *rand.Rand, id string) error {
	in := params{"context_id": id}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	switch r.IntN(7) {
	case 0:
		return s.ok("POST", "/contexts/"+id+"/restart")
	case 1:
		return s.ok("POST", "/contexts/"+id+"/interrupt")
	case 2: // leaves in the middle
		short, stop := context.WithTimeout(ctx, time.Duration(r.IntN(80))*time.Millisecond)
		defer stop()
		_, _ = s.runIn(short, "while True: print('x' * 1000)", in)
		return nil
	case 3:
		return ends(s.runIn(ctx, "import os; os._exit(1)", in))
	case 4:
		return ends(s.runIn(ctx, "print('x' * 1_000_000)", in, params{"env_vars": map[string]any{"A": "b"}}))
	default:
		return ends(s.runIn(ctx, fmt.Sprintf("print(%d)\n%d", r.Int(), r.Int()), in))
	}
}

func ends(r *run, err error) error {
	switch {
	case err != nil:
		return err
	case r.status != http.StatusOK:
		return errors.New(r.body)
	case r.last() != "end_of_execution":
		return fmt.Errorf("ends with %v", r.last())
	}
	return nil
}

func (s *served) ok(method, path string) error {
	req, err := http.NewRequest(method, s.server.URL+path, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %d %s", path, resp.StatusCode, b)
	}
	return err
}
