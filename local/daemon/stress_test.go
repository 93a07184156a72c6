package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// outcome is what the events of one command add up to.
type outcome struct {
	pid         uint32
	out, errout []byte
	end         *processpb.ProcessEvent_EndEvent
}

func (o *outcome) take(event *processpb.ProcessEvent) {
	switch e := event.GetEvent().(type) {
	case *processpb.ProcessEvent_Start:
		o.pid = e.Start.GetPid()
	case *processpb.ProcessEvent_Data:
		o.out = append(o.out, e.Data.GetStdout()...)
		o.out = append(o.out, e.Data.GetPty()...)
		o.errout = append(o.errout, e.Data.GetStderr()...)
	case *processpb.ProcessEvent_End:
		o.end = e.End
	}
}

func script(text string) *processpb.StartRequest {
	off := false
	return &processpb.StartRequest{Process: &processpb.ProcessConfig{Cmd: "/bin/sh", Args: []string{"-c", text}}, Stdin: &off}
}

// run follows one command to its end with the generated client.
func (r *rig) run(ctx context.Context, request *processpb.StartRequest) (*outcome, error) {
	stream, err := r.proc.Start(ctx, connect.NewRequest(request))
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	o := &outcome{}
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	return o, stream.Err()
}

func (r *rig) mustRun(text string) *outcome {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	o, err := r.run(ctx, script(text))
	require.NoError(r.t, err)
	require.NotNil(r.t, o.end)
	return o
}

// begin starts a command and returns after its start event.
func (r *rig) begin(ctx context.Context, request *processpb.StartRequest) (*connect.ServerStreamForClient[processpb.StartResponse], uint32) {
	r.t.Helper()
	stream, err := r.proc.Start(ctx, connect.NewRequest(request))
	require.NoError(r.t, err)
	require.True(r.t, stream.Receive(), "%v", stream.Err())
	return stream, stream.Msg().GetEvent().GetStart().GetPid()
}

func pidSelector(pid uint32) *processpb.ProcessSelector {
	return &processpb.ProcessSelector{Selector: &processpb.ProcessSelector_Pid{Pid: pid}}
}

func alive(pid uint32) bool { return syscall.Kill(int(pid), 0) == nil }

func TestLinesOfAMebibyteArriveWhole(t *testing.T) {
	o := newRig(t).mustRun(`head -c 1048576 /dev/zero | tr '\0' x; echo; echo end >&2`)
	require.Equal(t, strings.Repeat("x", 1<<20)+"\n", string(o.out))
	require.Equal(t, "end\n", string(o.errout))
}

func TestHundredCommandsAtOnceKeepTheirBytes(t *testing.T) {
	r := newRig(t)
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			text := fmt.Sprintf(`seq %d %d | tee /dev/stderr | head -c 200000`, i*1000, i*1000+40000)
			o, err := r.run(t.Context(), script(text))
			if err != nil || o.end.GetExitCode() != 0 {
				t.Errorf("command %d: %v %v", i, err, o)
				return
			}
			var want bytes.Buffer
			for n := i * 1000; n <= i*1000+40000; n++ {
				fmt.Fprintln(&want, n)
			}
			if sum(o.out) != sum(want.Bytes()[:200000]) {
				t.Errorf("command %d: wrong output of %d bytes", i, len(o.out))
			}
		})
	}
	all.Wait()
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

func TestNothingWrittenBeforeTheExitIsLost(t *testing.T) {
	r := newRig(t)
	for range 20 {
		o := r.mustRun(`sleep 3 & head -c 300000 /dev/zero; echo last >&2`)
		require.Len(t, o.out, 300000)
		require.Equal(t, "last\n", string(o.errout))
	}
}

func TestCommandEndsWhileAChildHoldsItsOutput(t *testing.T) {
	r := newRig(t)
	begun := time.Now()
	o := r.mustRun(`(sleep 2; echo late; echo alive > ` + r.home + `/mark; sleep 3) & echo now`)
	require.Less(t, time.Since(begun), 1900*time.Millisecond)
	require.Equal(t, "now\n", string(o.out))
	// The child is not killed by its output being gone.
	require.Eventually(t, func() bool {
		_, err := os.Stat(r.home + "/mark")
		return err == nil
	}, 8*time.Second, 20*time.Millisecond)
}

func TestSlowOutputOfAChildKeepsTheCommandOpen(t *testing.T) {
	r := newRig(t)
	r.d.silence = time.Second
	o := r.mustRun(`(for i in 1 2 3 4; do sleep 0.1; echo $i; done; sleep 3) & `)
	require.Equal(t, "1\n2\n3\n4\n", string(o.out))
}

func TestDeadlineKillsTheWholeSession(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	// timeout(1) makes a process group of its own, as an interactive shell does for its jobs.
	text := `sh -c 'echo $$ > ` + r.home + `/child; exec sleep 300' & timeout 300 sh -c 'echo $$ > ` + r.home + `/job; exec sleep 300' & sleep 300 & wait`
	_, err := r.run(ctx, script(text))
	require.Equal(t, "deadline_exceeded", codeOf(err))
	for _, name := range []string{"child", "job"} {
		content, err := os.ReadFile(r.home + "/" + name)
		require.NoError(t, err)
		var pid uint32
		_, err = fmt.Sscan(string(content), &pid)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return !alive(pid) || isZombie(pid) }, 3*time.Second, 10*time.Millisecond, name)
	}
	require.Eventually(t, func() bool { return len(r.d.commands.running()) == 0 }, 3*time.Second, 10*time.Millisecond)
}

func isZombie(pid uint32) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

func TestDeadlineEndsAChattyChild(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := r.run(ctx, script(`yes & exit 0`))
	require.Equal(t, "deadline_exceeded", codeOf(err))
	require.Eventually(t, func() bool { return len(r.d.commands.running()) == 0 }, 3*time.Second, 10*time.Millisecond)
}

func TestDisconnectDoesNotKill(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	stream, pid := r.begin(ctx, script(`sleep 1; exit 5`))
	cancel()
	_ = stream.Close()
	require.True(t, alive(pid))
	again, err := r.proc.Connect(t.Context(), connect.NewRequest(&processpb.ConnectRequest{Process: pidSelector(pid)}))
	require.NoError(t, err)
	defer again.Close()
	o := &outcome{}
	for again.Receive() {
		o.take(again.Msg().GetEvent())
	}
	require.Equal(t, pid, o.pid)
	require.EqualValues(t, 5, o.end.GetExitCode())
}

func TestSignalsReachTheWholeGroup(t *testing.T) {
	for _, signal := range []processpb.Signal{processpb.Signal_SIGNAL_SIGKILL, processpb.Signal_SIGNAL_SIGTERM} {
		r := newRig(t)
		stream, pid := r.begin(t.Context(), script(`sh -c 'echo $$; exec sleep 300' & wait`))
		require.True(t, stream.Receive())
		var child uint32
		_, err := fmt.Sscan(string(stream.Msg().GetEvent().GetData().GetStdout()), &child)
		require.NoError(t, err)
		_, err = r.proc.SendSignal(t.Context(), connect.NewRequest(&processpb.SendSignalRequest{Process: pidSelector(pid), Signal: signal}))
		require.NoError(t, err)
		require.True(t, stream.Receive())
		require.EqualValues(t, -1, stream.Msg().GetEvent().GetEnd().GetExitCode())
		require.False(t, stream.Receive())
		require.Eventually(t, func() bool { return isZombie(child) }, 3*time.Second, 10*time.Millisecond)
		_ = stream.Close()
	}
}

func TestStdinIsOpenUnlessRefused(t *testing.T) {
	r := newRig(t)
	request := script(`cat; echo done`)
	request.Stdin = nil
	tag := "cat"
	request.Tag = &tag
	stream, pid := r.begin(t.Context(), request)
	defer stream.Close()
	for _, text := range []string{"one ", "two\n"} {
		_, err := r.proc.SendInput(t.Context(), connect.NewRequest(&processpb.SendInputRequest{
			Process: &processpb.ProcessSelector{Selector: &processpb.ProcessSelector_Tag{Tag: tag}},
			Input:   &processpb.ProcessInput{Input: &processpb.ProcessInput_Stdin{Stdin: []byte(text)}},
		}))
		require.NoError(t, err)
	}
	pty := &processpb.ProcessInput{Input: &processpb.ProcessInput_Pty{Pty: []byte("x")}}
	_, err := r.proc.SendInput(t.Context(), connect.NewRequest(&processpb.SendInputRequest{Process: pidSelector(pid), Input: pty}))
	require.Equal(t, "internal", codeOf(err))
	for range 2 {
		_, err = r.proc.CloseStdin(t.Context(), connect.NewRequest(&processpb.CloseStdinRequest{Process: pidSelector(pid)}))
		require.True(t, err == nil || codeOf(err) == "not_found", "%v", err)
	}
	o := &outcome{}
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	require.Equal(t, "one two\ndone\n", string(o.out))
	require.Equal(t, "x\n", string(r.mustRun(`cat; echo x`).out))
}

func TestInputWithoutStdinIsInternal(t *testing.T) {
	r := newRig(t)
	stream, pid := r.begin(t.Context(), script(`sleep 5`))
	defer stream.Close()
	in := &processpb.ProcessInput{Input: &processpb.ProcessInput_Stdin{Stdin: []byte("x")}}
	_, err := r.proc.SendInput(t.Context(), connect.NewRequest(&processpb.SendInputRequest{Process: pidSelector(pid), Input: in}))
	require.EqualError(t, err, "internal: error writing to stdin: stdin not enabled or closed")
}

func TestStreamInputFeedsInOrder(t *testing.T) {
	r := newRig(t)
	request := script(`sha256sum`)
	request.Stdin = nil
	stream, pid := r.begin(t.Context(), request)
	defer stream.Close()
	in := r.proc.StreamInput(t.Context())
	require.NoError(t, in.Send(&processpb.StreamInputRequest{Event: &processpb.StreamInputRequest_Start{
		Start: &processpb.StreamInputRequest_StartEvent{Process: pidSelector(pid)},
	}}))
	all := []byte{}
	for i := range 50 {
		piece := bytes.Repeat([]byte{byte(i)}, 40000)
		all = append(all, piece...)
		require.NoError(t, in.Send(&processpb.StreamInputRequest{Event: &processpb.StreamInputRequest_Data{
			Data: &processpb.StreamInputRequest_DataEvent{Input: &processpb.ProcessInput{Input: &processpb.ProcessInput_Stdin{Stdin: piece}}},
		}}))
	}
	_, err := in.CloseAndReceive()
	require.NoError(t, err)
	_, err = r.proc.CloseStdin(t.Context(), connect.NewRequest(&processpb.CloseStdinRequest{Process: pidSelector(pid)}))
	require.NoError(t, err)
	o := &outcome{}
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	require.Equal(t, sum(all)+"  -\n", string(o.out))
}

func TestTerminalTakesInputSizeAndHangsUp(t *testing.T) {
	r := newRig(t)
	size := func(cols, rows uint32) *processpb.PTY {
		return &processpb.PTY{Size: &processpb.PTY_Size{Cols: cols, Rows: rows}}
	}
	request := &processpb.StartRequest{Process: &processpb.ProcessConfig{Cmd: "/bin/sh"}, Pty: size(80, 24)}
	stream, pid := r.begin(t.Context(), request)
	defer stream.Close()
	_, err := r.proc.CloseStdin(t.Context(), connect.NewRequest(&processpb.CloseStdinRequest{Process: pidSelector(pid)}))
	require.Equal(t, "unknown", codeOf(err))
	_, err = r.proc.Update(t.Context(), connect.NewRequest(&processpb.UpdateRequest{Process: pidSelector(pid), Pty: size(101, 51)}))
	require.NoError(t, err)
	in := &processpb.ProcessInput{Input: &processpb.ProcessInput_Pty{Pty: []byte("stty size; tty; exit 7\n")}}
	_, err = r.proc.SendInput(t.Context(), connect.NewRequest(&processpb.SendInputRequest{Process: pidSelector(pid), Input: in}))
	require.NoError(t, err)
	o := &outcome{}
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	require.NoError(t, stream.Err())
	require.Contains(t, string(o.out), "51 101\r\n")
	require.Contains(t, string(o.out), "/dev/pts/")
	require.EqualValues(t, 7, o.end.GetExitCode())
}

func TestFollowersGetTheSameBytes(t *testing.T) {
	r := newRig(t)
	stream, pid := r.begin(t.Context(), script(`sleep 0.4; seq 1 200000`))
	defer stream.Close()
	sums := make(chan string, 3)
	for range 3 {
		go func() {
			again, err := r.proc.Connect(t.Context(), connect.NewRequest(&processpb.ConnectRequest{Process: pidSelector(pid)}))
			if err != nil {
				sums <- err.Error()
				return
			}
			defer again.Close()
			o := &outcome{}
			for again.Receive() {
				o.take(again.Msg().GetEvent())
			}
			sums <- sum(o.out)
		}()
	}
	o := &outcome{}
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	require.NoError(t, stream.Err())
	for range 3 {
		require.Equal(t, sum(o.out), <-sums)
	}
}

func TestStuckFollowerIsCutOffAndOthersGoOn(t *testing.T) {
	f := newFanout()
	f.patience = 50 * time.Millisecond
	stuck, other := f.subscribe(), f.subscribe()
	got := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 * queueLength {
			<-other.queue
			got++
		}
	}()
	for range 2 * queueLength {
		c := &chunk{data: []byte("x")}
		c.refs.Store(1)
		f.publish(c)
	}
	<-done
	require.Equal(t, 2*queueLength, got)
	require.True(t, isClosed(stuck.cut))
	require.Len(t, stuck.queue, queueLength)
}

func TestSlowOnlyFollowerLosesNothing(t *testing.T) {
	r := newRig(t)
	stream, err := r.proc.Start(t.Context(), connect.NewRequest(script(`head -c 20000000 /dev/zero`)))
	require.NoError(t, err)
	defer stream.Close()
	o := &outcome{}
	time.Sleep(500 * time.Millisecond)
	for stream.Receive() {
		o.take(stream.Msg().GetEvent())
	}
	require.NoError(t, stream.Err())
	require.Len(t, o.out, 20000000)
}

func TestTooManyArgumentsAreRefusedClearly(t *testing.T) {
	request := script("true")
	request.Process.Args = append(request.Process.Args, strings.Repeat("x", 200000))
	_, err := newRig(t).run(t.Context(), request)
	require.Equal(t, "invalid_argument", codeOf(err))
	require.ErrorContains(t, err, "argument list too long")
}

func TestStormOfCancelsLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	fds := openFiles(t)
	r := newRig(t)
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			stop := time.AfterFunc(time.Duration(i)*5*time.Millisecond, cancel)
			defer stop.Stop()
			defer cancel()
			_, _ = r.run(ctx, script(`yes & sleep 100 & yes >&2`))
		})
	}
	all.Wait()
	pids := []uint32{}
	for _, c := range r.d.commands.running() {
		pids = append(pids, c.pid)
	}
	require.NotEmpty(t, pids)
	r.d.Close()
	for _, pid := range pids {
		require.Eventually(t, func() bool { return !killMembers(int(pid)) }, 3*time.Second, 10*time.Millisecond)
	}
	r.server.CloseClientConnections()
	r.server.Close()
	r.server.Client().CloseIdleConnections()
	goleak.VerifyNone(t, before)
	require.LessOrEqual(t, openFiles(t), fds+2)
}

func openFiles(t *testing.T) int {
	t.Helper()
	items, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(items)
}

func TestClosedDaemonStartsNothing(t *testing.T) {
	r := newRig(t)
	r.d.Close()
	_, err := r.run(t.Context(), script("true"))
	require.Equal(t, "unavailable", codeOf(err))
}

func BenchmarkOutput(b *testing.B) {
	for _, codec := range []string{"proto", "json"} {
		b.Run(codec, func(b *testing.B) {
			r := newRig(b)
			const size = 256 << 20
			b.SetBytes(size)
			for b.Loop() {
				text := fmt.Sprintf(`head -c %d /dev/zero`, size)
				body := string(envelope(0, shell(text)))
				if codec == "proto" {
					raw, err := newProtoCodec().Marshal(script(text))
					require.NoError(b, err)
					body = string(envelope(0, string(raw)))
				}
				response, err := r.server.Client().Post(r.server.URL+"/process.Process/Start", "application/connect+"+codec, strings.NewReader(body))
				require.NoError(b, err)
				n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, response.Body, make([]byte, 256<<10))
				require.NoError(b, err)
				require.Greater(b, n, int64(size))
				_ = response.Body.Close()
			}
		})
	}
}

func BenchmarkShortCommand(b *testing.B) {
	r := newRig(b)
	for b.Loop() {
		off := false
		_, err := r.run(context.Background(), &processpb.StartRequest{Process: &processpb.ProcessConfig{Cmd: "/bin/true"}, Stdin: &off})
		require.NoError(b, err)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(Options{}).Close()
	}
}
