package egress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/egress/inside"
)

// insideMark makes the test binary play pid 1 of a sandbox: NAME=socket.
const insideMark = "EGRESS_TEST_INSIDE"

func TestMain(m *testing.M) {
	if socket := os.Getenv(insideMark); socket != "" {
		os.Exit(playInside(socket, os.Args[len(os.Args)-1]))
	}
	goleak.VerifyTestMain(m)
}

// playInside sets up the network, serves the relay and runs one shell script.
func playInside(socket, script string) int {
	relay, mode, err := setup()
	if err != nil {
		fmt.Println("setup:", err)
		return 99
	}
	resolv := filepath.Join(filepath.Dir(socket), "resolv.conf")
	err = errors.Join(os.WriteFile(resolv, []byte("nameserver "+relay.Nameserver()+"\n"), 0o644),
		unix.Mount(resolv, "/etc/resolv.conf", "", unix.MS_BIND, ""))
	if err != nil {
		fmt.Println("resolv.conf:", err)
		return 99
	}
	if err := dropPrivileges(); err != nil {
		fmt.Println("drop privileges:", err)
		return 99
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); relay.Serve(ctx, socket) }()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/", "MODE=" + mode}, relay.Env()...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	err = cmd.Run()
	cancel()
	<-done
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// dropPrivileges does what pid 1 does before it serves: no capability is left, and
// none comes back. A binary with cgo (and so one with the race detector) cannot.
func dropPrivileges() error {
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0)
	if errno == unix.ENOTSUP {
		return nil
	}
	if errno != 0 {
		return errno
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno = syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func setup() (*inside.Relay, string, error) {
	if os.Getenv("EGRESS_TEST_MODE") != inside.ModeProxy {
		return inside.Setup()
	}
	r, err := inside.SetupProxy()
	return r, inside.ModeProxy, err
}

// world is a host with a fake resolver, whose dials all end at loopback.
type world struct {
	t      *testing.T
	host   *Host
	policy *Policy
	dir    string
	wrap   []string // runs the inside as somebody else
	mode   string

	mu     sync.Mutex
	names  map[string][][]netip.Addr // successive answers; the last stays
	routes map[netip.AddrPort]string
	dialed []netip.AddrPort
}

func newWorld(t *testing.T, registries ...string) *world {
	w := &world{t: t, names: map[string][][]netip.Addr{}, routes: map[netip.AddrPort]string{}}
	w.host = NewHost(HostOptions{Resolver: w})
	known := endpoints{}
	for _, u := range registries {
		known.add(u)
	}
	w.host.registries = func() endpoints { return known }
	w.host.dialAddr = w.dial
	dir, err := os.MkdirTemp("", "egress")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777))
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	w.dir = dir
	return w
}

func (w *world) open(r Rules) {
	p, err := w.host.Open(filepath.Join(w.dir, "s"), r)
	require.NoError(w.t, err)
	w.policy = p
	w.t.Cleanup(func() { _ = p.Close() })
}

func (w *world) name(name string, answers ...string) {
	for _, one := range answers {
		var addrs []netip.Addr
		for _, a := range strings.Fields(one) {
			addrs = append(addrs, netip.MustParseAddr(a))
		}
		w.names[name+"."] = append(w.names[name+"."], addrs)
	}
}

// route makes dials of an address end at a loopback server.
func (w *world) route(to string, server net.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[netip.MustParseAddrPort(to)] = server.String()
}

func (w *world) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	answers := w.names[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		w.names[host] = answers[1:]
	}
	return answers[0], nil
}

func (w *world) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, to)
	server, ok := w.routes[to]
	w.mu.Unlock()
	if !ok {
		return nil, &net.OpError{Op: "dial", Err: unix.ECONNREFUSED}
	}
	return dialDirect(ctx, netip.MustParseAddrPort(server))
}

// run runs a script inside and gives its output.
func (w *world) run(script string) string {
	w.t.Helper()
	out, err := w.start(script).wait()
	require.NoError(w.t, err, out)
	return out
}

type running struct {
	cmd  *exec.Cmd
	out  *bytes.Buffer
	kept context.CancelFunc
}

func (r *running) wait() (string, error) {
	defer r.kept()
	err := r.cmd.Wait()
	return r.out.String(), err
}

func (w *world) start(script string) *running {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	words := append(append([]string{}, w.wrap...), "unshare", "--user", "--map-root-user", "--net", "--mount", w.binary(), script)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), insideMark + "=" + filepath.Join(w.dir, "s"), "EGRESS_TEST_MODE=" + w.mode, "GORACE=atexit_sleep_ms=0"}
	r := &running{cmd: cmd, out: &bytes.Buffer{}, kept: cancel}
	cmd.Stdout, cmd.Stderr = r.out, r.out
	require.NoError(w.t, cmd.Start())
	return r
}

// binary is this test's program where every user can run it.
func (w *world) binary() string {
	path := filepath.Join(w.dir, "egress.test")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	from, err := os.Open("/proc/self/exe")
	require.NoError(w.t, err)
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(w.t, err)
	_, err = io.Copy(to, from)
	require.NoError(w.t, errors.Join(err, to.Close(), from.Close()))
	return path
}

func needsNamespaces(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range append(commands, "unshare", "sh") {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("%s is not installed", c)
		}
	}
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--net", "true").CombinedOutput(); err != nil {
		t.Skipf("user namespaces are refused here: %s", out)
	}
}
