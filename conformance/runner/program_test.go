package runner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be the program under test.
func TestMain(m *testing.M) {
	if os.Getenv("CONFORMANCE_PROGRAM") != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// program answers each call with an event and its own parameters; a call named
// stay ends when it is cancelled, one named die ends everything.
func program() {
	in := bufio.NewReader(os.Stdin)
	for {
		b, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var l struct {
			Session, Call, Cancel int
			Name                  string
			Open                  *struct{ Dir string }
			Params                json.RawMessage
			Close                 bool
		}
		if json.Unmarshal(b, &l) != nil {
			return
		}
		switch {
		case l.Open != nil:
			fmt.Printf("{\"session\":%d,\"opened\":true}\n", l.Session)
		case l.Close:
			fmt.Printf("{\"session\":%d,\"closed\":true}\n", l.Session)
		case l.Cancel != 0:
			fmt.Printf("{\"session\":%d,\"result\":%d,\"failure\":{\"code\":\"E5006\",\"message\":\"m\",\"cancelled\":true,\"texts\":[\"m\"]}}\n", l.Session, l.Cancel)
		case l.Name == "die":
			return
		case l.Name != "stay":
			fmt.Printf("{\"session\":%d,\"event\":%d,\"kind\":\"start\",\"value\":7}\nnoise\n{\"session\":%d,\"result\":%d,\"value\":%s}\n", l.Session, l.Call, l.Session, l.Call, l.Params)
		default:
			fmt.Printf("{\"session\":%d,\"event\":%d,\"kind\":\"start\",\"value\":7}\n", l.Session, l.Call)
		}
	}
}

func startProgram(t *testing.T) *Program {
	t.Setenv("CONFORMANCE_PROGRAM", "1")
	p, err := StartProgram(Start{Name: "fake", Command: []string{os.Args[0]}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func TestAProgramIsADriver(t *testing.T) {
	p := startProgram(t)
	cases, err := expand(value(t, `{"name":"x","calls":[{"call":"echo","params":{"a":[1]},"result":{"$exact":{"a":[1]}},"events":[["start",7]]},{"call":"stay","cancel_on":"start","error":{"code":"E5006","cancelled":true}}]}`).(map[string]any))
	require.NoError(t, err)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if problems := Run(p, cases[0], t.TempDir()); len(problems) > 0 {
				t.Error(problems)
			}
		})
	}
	all.Wait()
}

func TestAProgramThatEndsFailsItsCalls(t *testing.T) {
	p := startProgram(t)
	s, err := p.Open(Setup{})
	require.NoError(t, err)
	_, failure := s.Call(t.Context(), "die", json.RawMessage(`{}`), nil)
	require.Contains(t, failure.Texts[0], "has ended")
	_, err = p.Open(Setup{})
	require.Error(t, err)
}
