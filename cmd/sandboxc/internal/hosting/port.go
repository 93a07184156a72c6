package hosting

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// portFile remembers the port of the last server of a state directory.
func portFile(state string) string { return filepath.Join(filepath.Dir(state), "port") }

func lastPort(state string) int {
	b, err := os.ReadFile(portFile(state))
	if err != nil {
		return 0
	}
	port, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || port < 1 || port > 65535 {
		return 0
	}
	return port
}

// keepPort is best effort: without it the next server has another port.
func keepPort(state string, port int) {
	_ = os.WriteFile(portFile(state), []byte(strconv.Itoa(port)+"\n"), 0o600)
}
