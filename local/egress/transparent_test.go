package egress

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refusedByCurl is what curl says of a reset, sooner or later than its connect.
const refusedByCurl = `reset by peer|Couldn't connect`

const curl = "curl -sS -k --max-time 20 -o - -w '[%{http_code} %{errormsg}]' "

func echo(t *testing.T, text string) (plain, secure *httptest.Server) {
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(text + " " + r.Host + " " + r.Header.Get("X-Key")))
	})
	plain, secure = httptest.NewServer(h), httptest.NewTLSServer(h)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	return plain, secure
}

func TestEveryProgramReachesPublicHosts(t *testing.T) {
	needsNamespaces(t, "curl", "python3")
	who := map[string][]string{"as it is": nil}
	if os.Getuid() == 0 {
		if _, err := exec.LookPath("setpriv"); err == nil {
			who["ordinary user"] = []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"}
		}
	}
	for name, wrap := range who {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.wrap = wrap
			plain, secure := echo(t, "hello")
			w.name("site.test", "9.9.9.9 2620:fe::fe")
			w.route("9.9.9.9:80", plain.Listener.Addr())
			w.route("9.9.9.9:443", secure.Listener.Addr())
			w.open(Rules{})
			out := w.run(curl + "http://site.test/; " + curl + "https://site.test/; " + curl + "http://9.9.9.9/; echo; echo $MODE;" +
				`python3 -c 'import socket; print(socket.getaddrinfo("site.test", 80, proto=6))'`)
			require.Contains(t, out, "hello site.test [200 ]hello site.test [200 ]hello 9.9.9.9 [200 ]\ntransparent\n")
			require.Contains(t, out, "9.9.9.9")
			require.NotContains(t, out, "2620:fe", "there is no IPv6 inside, so no name has an IPv6 address")
		})
	}
}

func TestProtectedAddressesAreRefused(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	plain, _ := echo(t, "secret")
	for _, a := range []string{"10.0.0.8:80", "169.254.169.254:80", "192.168.1.1:80", "127.0.0.1:80", "100.64.0.1:80", "172.16.0.1:80"} {
		w.route(a, plain.Listener.Addr())
	}
	w.name("rebound.test", "10.0.0.8")
	w.name("meta.test", "169.254.169.254")
	w.name("self.test", "127.0.0.1")
	w.open(Rules{AllowOut: []string{"0.0.0.0/0"}})
	script := ""
	for _, u := range []string{"10.0.0.8", "169.254.169.254", "192.168.1.1", "100.64.0.1", "172.16.0.1", "10.0.2.2", "rebound.test", "meta.test", "self.test", "[fd00:ec2::254]", "[::ffff:10.0.0.8]", "[64:ff9b::a00:8]"} {
		script += "curl -sS --max-time 5 http://" + u + "/ && echo REACHED; "
	}
	out := w.run(script + "true")
	require.NotContains(t, out, "secret")
	require.NotContains(t, out, "REACHED")
	require.NotContains(t, out, "timed out", "a refusal comes at once")
	require.Empty(t, w.dialed, "nothing was dialled")
}

func TestRedirectToAProtectedAddressIsRefused(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	secret, _ := echo(t, "secret")
	hop := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/latest", http.StatusFound))
	t.Cleanup(hop.Close)
	w.name("hop.test", "9.9.9.9")
	w.route("9.9.9.9:80", hop.Listener.Addr())
	w.route("169.254.169.254:80", secret.Listener.Addr())
	w.open(Rules{})
	out := w.run("curl -sSL --max-time 5 http://hop.test/; true")
	require.NotContains(t, out, "secret")
	require.Regexp(t, refusedByCurl, out)
}

func TestNameThatResolvesDifferentlyTheSecondTimeIsRefused(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	plain, _ := echo(t, "public")
	secret, _ := echo(t, "secret")
	w.name("rebind.test", "9.9.9.9", "10.0.0.8")
	w.route("9.9.9.9:80", plain.Listener.Addr())
	w.route("10.0.0.8:80", secret.Listener.Addr())
	w.open(Rules{})
	require.Contains(t, w.run(curl+"http://rebind.test/"), "public")
	w.policy.book.record("rebind.test", []netip.Addr{addr("9.9.9.9")}, time.Now().Add(-freshFor))
	out := w.run("curl -sS --max-time 5 http://rebind.test/; curl -sS --max-time 5 --resolve rebind.test:80:10.0.0.8 http://rebind.test/; true")
	require.NotContains(t, out, "secret")
	require.NotContains(t, out, "public")
}

func TestRuleThatNamesAnAddressOpensIt(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	plain, _ := echo(t, "hello")
	w.name("intra.test", "10.0.0.8")
	w.name("self.test", "127.0.0.1")
	w.route("10.0.0.8:80", plain.Listener.Addr())
	w.open(Rules{AllowOut: []string{"10.0.0.0/24", "127.0.0.1"}})
	port := plain.URL[len("http://127.0.0.1"):]
	w.route("127.0.0.1"+port, plain.Listener.Addr())
	out := w.run(curl + "http://intra.test/; " + curl + "http://10.0.0.8/; " + curl + "http://10.0.2.2" + port + "/; " + curl + "http://self.test" + port)
	require.Equal(t, "hello intra.test [200 ]hello 10.0.0.8 [200 ]hello 10.0.2.2"+port+" [200 ]hello self.test"+port+" [200 ]", out)
}

func TestLoopbackStaysInside(t *testing.T) {
	needsNamespaces(t, "curl", "python3")
	w := newWorld(t)
	secret, _ := echo(t, "secret")
	w.open(Rules{})
	port := secret.URL[len("http://127.0.0.1:"):]
	out := w.run("cd /; python3 -m http.server --bind 127.0.0.1 8123 >/dev/null 2>&1 & trap 'kill $!' EXIT; " +
		"for i in 1 2 3 4 5 6 7 8 9 10; do curl -s -o /dev/null http://127.0.0.1:8123/ && break; sleep 0.2; done; " +
		"curl -s -o /dev/null -w '%{http_code}\n' http://localhost:8123/; curl -s http://127.0.0.1:" + port + "; echo $?; " +
		"curl -s http://127.0.0.1:61001/ || echo no way")
	require.Equal(t, "200\n7\nno way\n", out, "a server inside is found, the host's is not, the relay's own port is no way out")
}

func TestDomainRulesAreReadFromServerNameAndHost(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	plain, secure := echo(t, "hello")
	w.name("good.test", "9.9.9.9")
	w.name("sub.wild.test", "9.9.9.9")
	w.name("wild.test", "9.9.9.9")
	w.name("bad.test", "8.8.8.8")
	for _, a := range []string{"9.9.9.9", "8.8.8.8"} {
		w.route(a+":80", plain.Listener.Addr())
		w.route(a+":443", secure.Listener.Addr())
		w.route(a+":8080", plain.Listener.Addr())
	}
	w.open(Rules{AllowOut: []string{"good.test", "*.wild.test", "7.7.7.7"}, DenyOut: []string{"0.0.0.0/0"}})
	ok := w.run(curl + "http://good.test/; " + curl + "https://good.test/; " + curl + "https://sub.wild.test/")
	require.Equal(t, "hello good.test [200 ]hello good.test [200 ]hello sub.wild.test [200 ]", ok)
	for name, command := range map[string]string{
		"another name":          "curl -skS https://bad.test/",
		"parent of a wildcard":  "curl -skS https://wild.test/",
		"the address alone":     "curl -skS https://9.9.9.9/",
		"a port without names":  "curl -sS http://good.test:8080/",
		"another Host":          "curl -sS -f -H 'Host: bad.test' http://good.test/",
		"second request's Host": "curl -sS -f -o /dev/null http://good.test/ --next -f -sS -H 'Host: bad.test' http://good.test/",
		"TLS with another name": "curl -skS --connect-to bad.test:443:good.test:443 https://bad.test/",
		"CONNECT as to a proxy": "curl -sS -f -p -x http://good.test:80 http://bad.test/",
	} {
		out := w.run(command + " && echo REACHED; true")
		require.NotContains(t, out, "hello", name)
		require.NotContains(t, out, "REACHED", name)
	}
	stolen := w.run("curl -skS --max-time 5 --resolve good.test:443:8.8.8.8 https://good.test/")
	require.Equal(t, "hello good.test ", stolen)
	require.NotContains(t, fmt.Sprint(w.dialed), "8.8.8.8", "a stated name is resolved by the host, whatever was dialled")
}

func TestRegistryIsReachedByNameAndPortOnly(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t, "https://index.test/simple", "http://debs.test/")
	plain, secure := echo(t, "package")
	w.name("index.test", "10.0.0.8")
	w.name("debs.test", "10.0.0.8")
	w.name("wiki.test", "10.0.0.8")
	w.route("10.0.0.8:80", plain.Listener.Addr())
	w.route("10.0.0.8:443", secure.Listener.Addr())
	w.open(Rules{})
	out := w.run(curl + "https://index.test/; " + curl + "http://debs.test/")
	require.Equal(t, "package index.test [200 ]package debs.test [200 ]", out)
	for name, command := range map[string]string{
		"another name there":     "curl -skS https://wiki.test/",
		"a forged server name":   "curl -skS --connect-to wiki.test:443:index.test:443 https://wiki.test/",
		"a forged Host":          "curl -sS -f -H 'Host: wiki.test' http://debs.test/",
		"the other port":         "curl -sS -f http://index.test/",
		"the address":            "curl -skS https://10.0.0.8/",
		"plain HTTP to TLS port": "curl -sS -f http://wiki.test:443/",
	} {
		out := w.run(command + " && echo REACHED; true")
		require.NotContains(t, out, "REACHED", name)
	}
	require.NoError(t, w.policy.Update(Rules{DenyOut: []string{"0.0.0.0/0"}}))
	require.NotContains(t, w.run("curl -skS --max-time 5 https://index.test/; true"), "package", "a rule that denies all denies registries")
}

func TestUpdateCutsWhatTheNewRulesRefuse(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	begun := make(chan struct{}, 2)
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		_, _ = rw.Write([]byte("begun\n"))
		_ = http.NewResponseController(rw).Flush()
		begun <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-time.After(time.Second):
			_, _ = rw.Write([]byte("finished\n"))
		}
	}))
	t.Cleanup(slow.Close)
	w.route("9.9.9.9:80", slow.Listener.Addr())
	w.route("8.8.8.8:80", slow.Listener.Addr())
	w.open(Rules{})
	r := w.start("(curl -sN --max-time 10 http://9.9.9.9/ || echo CUT) & curl -sN --max-time 10 http://8.8.8.8/; wait; curl -s --max-time 5 http://9.9.9.9/ || echo CUT")
	arrives(t, begun)
	arrives(t, begun)
	require.NoError(t, w.policy.Update(Rules{DenyOut: []string{"9.9.9.0/24"}}))
	out, err := r.wait()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(out, "finished"), out)
	require.Equal(t, 2, strings.Count(out, "CUT"), "the old connection and the new one: "+out)
	bad := w.policy.Update(Rules{AllowOut: []string{"a.test"}})
	require.ErrorContains(t, bad, domainsNeedBlockAll)
	require.Equal(t, []string{"9.9.9.0/24"}, w.policy.Rules().DenyOut, "invalid rules change nothing")
}

func TestOtherTrafficFailsAtOnce(t *testing.T) {
	needsNamespaces(t, "python3")
	w := newWorld(t)
	w.open(Rules{})
	out := w.run(`python3 -c '
import socket, time
t = time.time()
def attempt(what, f):
    try: f(); print(what, "went out")
    except OSError as e: print(what, e.errno)
def quic():
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(5)
    s.connect(("9.9.9.9", 443)); s.send(b"x"); s.recv(10)
def six():
    socket.create_connection(("2620:fe::fe", 443), timeout=5)
attempt("udp", quic); attempt("ipv6", six); print(time.time() - t < 1)'`)
	require.Regexp(t, `^udp \d+\nipv6 101\nTrue\n$`, out)
}

func TestHeadersAreSetOnPlainHTTPForTheirHostOnly(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	plain, _ := echo(t, "got")
	thief, _ := echo(t, "stolen")
	w.name("api.test", "9.9.9.9")
	w.route("9.9.9.9:80", plain.Listener.Addr())
	w.route("8.8.8.8:80", thief.Listener.Addr())
	w.open(Rules{Transform: map[string][]HeaderRule{"http://api.test": {{Transform: &Transform{Headers: map[string]string{"x-key": "s3cret"}}}}}})
	out := w.run(curl + "-H 'X-Key: mine' http://api.test/ http://api.test/; " + curl + "http://9.9.9.9/; " +
		curl + "-H 'Host: api.test' http://8.8.8.8/; " + curl + "http://8.8.8.8/")
	require.Equal(t, "got api.test s3cret[200 ]got api.test s3cret[200 ]got 9.9.9.9 [200 ]got api.test s3cret[200 ]stolen 8.8.8.8 [200 ]", out)
}

func TestNothingIsLeftAfterClose(t *testing.T) {
	needsNamespaces(t, "curl")
	w := newWorld(t)
	begun := make(chan struct{}, 20)
	hang := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(hang.Close)
	w.route("9.9.9.9:80", hang.Listener.Addr())
	before := openFiles(t)
	w.open(Rules{})
	r := w.start("for i in $(seq 20); do (curl -s --max-time 20 http://9.9.9.9/ || echo F) & done; wait")
	for range 20 {
		arrives(t, begun)
	}
	require.NoError(t, w.policy.Close())
	out, err := r.wait()
	require.NoError(t, err)
	require.Equal(t, 20, strings.Count(out, "F"), out)
	require.NoFileExists(t, filepath.Join(w.dir, "s"))
	hang.Close()
	require.Eventually(t, func() bool {
		runtime.GC() // the runtime keeps pipes for splice until then
		return openFiles(t) <= before
	}, 5*time.Second, 50*time.Millisecond)
}

func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

func arrives(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal("the request did not arrive")
	}
}

func TestQuestionsOverTCPAreAnswered(t *testing.T) {
	needsNamespaces(t, "python3")
	w := newWorld(t)
	w.name("site.test", "9.9.9.9")
	w.open(Rules{})
	out := w.run(`python3 -c '
import socket, struct
q = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\4site\4test\0" + struct.pack("!2H", 1, 1)
s = socket.create_connection(("8.8.8.8", 53), timeout=5)
for _ in range(2):
    s.sendall(struct.pack("!H", len(q)) + q)
    n = struct.unpack("!H", s.recv(2))[0]
    print(".".join(str(b) for b in s.recv(n)[-4:]))'`)
	require.Equal(t, "9.9.9.9\n9.9.9.9\n", out)
}
