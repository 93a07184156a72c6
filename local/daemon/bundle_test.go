package daemon

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

// flushes notes what had been written at each flush.
type flushes struct {
	*httptest.ResponseRecorder
	at []int
}

func (f *flushes) Flush() { f.at = append(f.at, f.Body.Len()) }

func TestTheEndOfAStreamGoesOutWithWhatTheServerWritesAfterIt(t *testing.T) {
	f := &flushes{ResponseRecorder: httptest.NewRecorder()}
	say := func(w http.ResponseWriter, text string) {
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
		w.(http.Flusher).Flush()
	}
	bundled(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		say(w, "start,")
		bundleOf(r.Context()).last = true
		say(w, "end,")
		say(w, "end of stream")
	})).ServeHTTP(f, httptest.NewRequest(http.MethodPost, "/", nil))
	require.Equal(t, []int{len("start,")}, f.at)
	require.Equal(t, "start,end,end of stream", f.Body.String())
}
