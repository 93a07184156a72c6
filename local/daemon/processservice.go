package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"connectrpc.com/connect"

	processpb "github.com/agent-sandbox/agent-sandbox/local/daemon/pb/process"
)

// processService is process.Process (e2b.md 3.4).
type processService struct{ d *Daemon }

// List implements process.Process.
func (s *processService) List(context.Context, *connect.Request[processpb.ListRequest]) (*connect.Response[processpb.ListResponse], error) {
	answer := &processpb.ListResponse{}
	for _, c := range s.d.commands.running() {
		answer.Processes = append(answer.Processes, &processpb.ProcessInfo{Config: c.config, Pid: c.pid, Tag: c.tag})
	}
	return connect.NewResponse(answer), nil
}

// Start implements process.Process. Its timeout is the deadline of the command,
// which outlives the connection.
func (s *processService) Start(ctx context.Context, r *connect.Request[processpb.StartRequest], out *connect.ServerStream[processpb.StartResponse]) error {
	user, err := s.d.rpcUser(r.Header())
	if err != nil {
		return err
	}
	spec := &startSpec{config: r.Msg.GetProcess(), tag: r.Msg.Tag, user: user, stdin: r.Msg.Stdin == nil || r.Msg.GetStdin()}
	if r.Msg.Pty != nil {
		spec.size = r.Msg.GetPty().GetSize()
		if spec.size == nil {
			spec.size = &processpb.PTY_Size{}
		}
	}
	spec.deadline, _ = ctx.Deadline()
	c, follower, err := s.d.start(spec)
	if err != nil {
		return err
	}
	answer := &processpb.StartResponse{}
	return follow(ctx, c, follower, &relay{
		keepalive: keepalive(r.Header()),
		starter:   true,
		send: func(event *processpb.ProcessEvent) error {
			answer.Event = event
			return out.Send(answer)
		},
	})
}

// Connect implements process.Process. Its timeout ends only the following.
func (s *processService) Connect(ctx context.Context, r *connect.Request[processpb.ConnectRequest], out *connect.ServerStream[processpb.ConnectResponse]) error {
	c, err := s.find(r.Msg.GetProcess(), true)
	if err != nil {
		return err
	}
	answer := &processpb.ConnectResponse{}
	return follow(ctx, c, c.output.subscribe(), &relay{
		keepalive: keepalive(r.Header()),
		send: func(event *processpb.ProcessEvent) error {
			answer.Event = event
			return out.Send(answer)
		},
	})
}

// Update implements process.Process.
func (s *processService) Update(_ context.Context, r *connect.Request[processpb.UpdateRequest]) (*connect.Response[processpb.UpdateResponse], error) {
	c, err := s.find(r.Msg.GetProcess(), false)
	if err != nil {
		return nil, err
	}
	if r.Msg.Pty != nil {
		if c.terminal() == nil {
			return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error resizing tty: %w", errNoTTY))
		}
		if err := resize(c.terminal(), r.Msg.GetPty().GetSize()); err != nil {
			return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error resizing tty: %w", err))
		}
	}
	return connect.NewResponse(&processpb.UpdateResponse{}), nil
}

// SendInput implements process.Process.
func (s *processService) SendInput(ctx context.Context, r *connect.Request[processpb.SendInputRequest]) (*connect.Response[processpb.SendInputResponse], error) {
	c, err := s.find(r.Msg.GetProcess(), false)
	if err != nil {
		return nil, err
	}
	if err := feed(ctx, c, r.Msg.GetInput()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&processpb.SendInputResponse{}), nil
}

// StreamInput implements process.Process.
func (s *processService) StreamInput(ctx context.Context, in *connect.ClientStream[processpb.StreamInputRequest]) (*connect.Response[processpb.StreamInputResponse], error) {
	var c *command
	for in.Receive() {
		var err error
		switch event := in.Msg().GetEvent().(type) {
		case *processpb.StreamInputRequest_Start:
			c, err = s.find(event.Start.GetProcess(), false)
		case *processpb.StreamInputRequest_Data:
			if c == nil {
				err = connect.NewError(connect.CodeInvalidArgument, errors.New("input before the start event"))
				break
			}
			err = feed(ctx, c, event.Data.GetInput())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return connect.NewResponse(&processpb.StreamInputResponse{}), nil
}

// SendSignal implements process.Process: the whole process group is signalled,
// and SIGKILL takes the session with it.
func (s *processService) SendSignal(_ context.Context, r *connect.Request[processpb.SendSignalRequest]) (*connect.Response[processpb.SendSignalResponse], error) {
	c, err := s.find(r.Msg.GetProcess(), false)
	if err != nil && r.Msg.GetSignal() == processpb.Signal_SIGNAL_SIGKILL && r.Msg.GetProcess().GetTag() != "" {
		tag := r.Msg.GetProcess().GetTag()
		c = s.d.commands.refuse(tag)
		if c == nil && onceOnly.MatchString(tag) { // it will never run: as good as killed
			return connect.NewResponse(&processpb.SendSignalResponse{}), nil
		}
	}
	if c == nil {
		return nil, err
	}
	signal := syscall.SIGTERM
	switch r.Msg.GetSignal() {
	case processpb.Signal_SIGNAL_SIGTERM:
	case processpb.Signal_SIGNAL_SIGKILL:
		signal = syscall.SIGKILL
	default:
		return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("invalid signal: %s", r.Msg.GetSignal()))
	}
	err = syscall.Kill(-int(c.pid), signal)
	if errors.Is(err, syscall.ESRCH) {
		return nil, notFound(r.Msg.GetProcess())
	}
	if err != nil {
		return nil, connect.NewError(connect.CodeInternal, fmt.Errorf("error sending signal: %w", err))
	}
	if signal == syscall.SIGKILL {
		s.d.kill(c)
	}
	return connect.NewResponse(&processpb.SendSignalResponse{}), nil
}

// CloseStdin implements process.Process.
func (s *processService) CloseStdin(_ context.Context, r *connect.Request[processpb.CloseStdinRequest]) (*connect.Response[processpb.CloseStdinResponse], error) {
	c, err := s.find(r.Msg.GetProcess(), false)
	if err != nil {
		return nil, err
	}
	if err := c.input.closeStdin(); err != nil {
		return nil, connect.NewError(connect.CodeUnknown, fmt.Errorf("error closing stdin: %w", err))
	}
	return connect.NewResponse(&processpb.CloseStdinResponse{}), nil
}

// feed writes one input to the command.
func feed(ctx context.Context, c *command, in *processpb.ProcessInput) error {
	var err error
	switch kind := in.GetInput().(type) {
	case *processpb.ProcessInput_Stdin:
		err = errNoStdin
		if c.terminal() == nil {
			err = c.input.write(ctx, kind.Stdin)
		}
		err = wrap("error writing to stdin", err)
	case *processpb.ProcessInput_Pty:
		err = errNoTTY
		if c.terminal() != nil {
			err = c.input.write(ctx, kind.Pty)
		}
		err = wrap("error writing to tty", err)
	default:
		return connect.NewError(connect.CodeUnimplemented, errors.New("invalid input type *process.ProcessInput"))
	}
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return cause
	}
	return connect.NewError(connect.CodeInternal, err)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// find returns the selected command; ended allows one that has ended lately.
func (s *processService) find(selector *processpb.ProcessSelector, ended bool) (*command, error) {
	var match func(*command) bool
	switch by := selector.GetSelector().(type) {
	case *processpb.ProcessSelector_Pid:
		match = func(c *command) bool { return c.pid == by.Pid }
	case *processpb.ProcessSelector_Tag:
		match = func(c *command) bool { return c.tag != nil && *c.tag == by.Tag }
	default:
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("invalid input type *process.ProcessSelector"))
	}
	c := s.d.commands.find(match)
	if c == nil && ended {
		c = s.d.commands.findEnded(match)
	}
	if c == nil {
		return nil, notFound(selector)
	}
	return c, nil
}

func notFound(selector *processpb.ProcessSelector) error {
	by := "pid " + strconv.FormatUint(uint64(selector.GetPid()), 10)
	if _, tag := selector.GetSelector().(*processpb.ProcessSelector_Tag); tag {
		by = "tag " + selector.GetTag()
	}
	return connect.NewError(connect.CodeNotFound, fmt.Errorf("process with %s not found", by))
}

// defaultKeepalive holds when the client names no interval (e2b.md 3.3).
const defaultKeepalive = 90 * time.Second

// keepalive is the interval of Keepalive-Ping-Interval, which is in seconds.
func keepalive(header http.Header) time.Duration {
	seconds, err := strconv.ParseUint(header.Get("Keepalive-Ping-Interval"), 10, 31)
	if err != nil || seconds == 0 {
		return defaultKeepalive
	}
	return time.Duration(seconds) * time.Second
}
