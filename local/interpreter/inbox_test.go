package interpreter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agent-sandbox/agent-sandbox/local/interpreter/jupyter"
)

func TestInboxIsBounded(t *testing.T) {
	in := newInbox(10)
	large := &jupyter.Message{Content: make([]byte, 100)}
	in.put(large) // one always fits
	put := make(chan struct{})
	go func() {
		in.put(&jupyter.Message{Content: make([]byte, 5)})
		in.put(&jupyter.Message{Content: make([]byte, 5)})
		close(put)
		in.put(&jupyter.Message{Content: make([]byte, 1)})
		in.close()
	}()
	select {
	case <-put:
		t.Fatal("there is no room")
	case <-time.After(20 * time.Millisecond):
	}
	m, _, ok := in.take()
	require.True(t, ok)
	require.Same(t, large, m)
	require.True(t, in.busy())
	<-put
	for _, size := range []int{5, 5, 1} {
		m, _, ok = in.take()
		require.True(t, ok)
		require.Len(t, m.Content, size)
	}
	_, more, ok := in.take()
	require.False(t, ok)
	require.False(t, more)
	require.False(t, in.busy())
}
