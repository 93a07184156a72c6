package inside

import (
	"errors"
	"fmt"
	"net"
)

// ErrNotFresh says that the network namespace is somebody's: it has more than lo.
var ErrNotFresh = errors.New("this network namespace is in use: nothing was changed")

// mustBeFresh keeps a mistaken caller from redirecting the host's own network.
// A new namespace has lo alone (and tunnels of the kernel's that are down).
func mustBeFresh() error {
	links, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list network interfaces: %w", err)
	}
	for _, l := range links {
		if l.Index != loopback && l.Flags&net.FlagUp != 0 {
			return fmt.Errorf("%w (interface %s is up)", ErrNotFresh, l.Name)
		}
	}
	return nil
}
