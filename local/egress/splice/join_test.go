package splice

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chain is client - TCP - relay - unix - host - TCP - server, as in a sandbox.
func chain(t testing.TB) (client, server *net.TCPConn) {
	client, c := tcpPair(t)
	host, inside := unixPair(t)
	s, server := tcpPair(t)
	ended := make(chan struct{}, 2)
	go func() { Join(c, inside); ended <- struct{}{} }()
	go func() { Join(host, s); ended <- struct{}{} }()
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
		for range 2 {
			select {
			case <-ended:
			case <-time.After(5 * time.Second):
				t.Error("a join did not end with its ends")
			}
		}
	})
	limit := time.Now().Add(10 * time.Second)
	require.NoError(t, client.SetDeadline(limit))
	require.NoError(t, server.SetDeadline(limit))
	return client, server
}

func tcpPair(t testing.TB) (a, b *net.TCPConn) {
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	a, err = net.DialTCP("tcp4", nil, l.Addr().(*net.TCPAddr))
	require.NoError(t, err)
	b, err = l.AcceptTCP()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return a, b
}

func unixPair(t testing.TB) (a, b *net.UnixConn) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: filepath.Join(t.TempDir(), "s")})
	require.NoError(t, err)
	b, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	require.NoError(t, err)
	a, err = l.AcceptUnix()
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return a, b
}

func TestHalfCloseIsPassedOn(t *testing.T) {
	client, server := chain(t)
	_, err := client.Write([]byte("question"))
	require.NoError(t, err)
	require.NoError(t, client.CloseWrite())
	got, err := io.ReadAll(server)
	require.NoError(t, err)
	require.Equal(t, "question", string(got))
	time.Sleep(20 * time.Millisecond)
	_, err = server.Write([]byte("answer"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	got, err = io.ReadAll(client)
	require.NoError(t, err)
	require.Equal(t, "answer", string(got))
}

func TestResetOfTheServerIsPassedOn(t *testing.T) {
	client, server := chain(t)
	_, err := server.Write([]byte("begin"))
	require.NoError(t, err)
	_, err = io.ReadFull(client, make([]byte, 5))
	require.NoError(t, err)
	Reset(server)
	_, err = client.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF, "a cut answer must not look whole")
}

func TestResetOfTheClientIsPassedOn(t *testing.T) {
	client, server := chain(t)
	Reset(client)
	_, err := server.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF)
}

func TestServerThatEndsFirstStillHears(t *testing.T) {
	client, server := chain(t)
	require.NoError(t, server.CloseWrite())
	_, err := client.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)
	_, err = client.Write([]byte("late"))
	require.NoError(t, err)
	require.NoError(t, client.Close())
	got, err := io.ReadAll(server)
	require.NoError(t, err)
	require.Equal(t, "late", string(got))
}

func TestSetIsBoundedAndClosesItsMembers(t *testing.T) {
	s := Set{Max: 1}
	a, b := tcpPair(t)
	defer func() { _ = b.Close() }()
	require.True(t, s.Go(a, func() { _, _ = a.Read(make([]byte, 1)) }))
	c, d := tcpPair(t)
	defer func() { _ = d.Close() }()
	require.False(t, s.Go(c, func() { t.Error("ran over the bound") }))
	require.Error(t, c.SetDeadline(time.Now()), "what is not taken is closed")
	s.Close()
	require.Error(t, a.SetDeadline(time.Now()))
	require.False(t, s.Go(d, func() { t.Error("ran after close") }))
}

func BenchmarkChain(b *testing.B) {
	client, server := chain(b)
	_ = client.SetDeadline(time.Time{})
	_ = server.SetDeadline(time.Time{})
	block := bytes.Repeat([]byte("x"), 1<<20)
	b.SetBytes(int64(len(block)))
	go func() {
		for range b.N {
			if _, err := server.Write(block); err != nil {
				return
			}
		}
		_ = server.CloseWrite()
	}()
	n, err := io.Copy(io.Discard, client)
	require.NoError(b, err)
	require.EqualValues(b, b.N*len(block), n)
}
