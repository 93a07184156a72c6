package egress

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

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
