package runner

import (
	"net"
	"slices"
	"sync"
)

// spent are the ports that the latest cases had. A client remembers which codec an
// address speaks, and tells one for some seconds what became of its callers: no
// case may be met by what was meant for another.
var spent struct {
	sync.Mutex
	ports []int
}

// rest is for how many others a port is not used again: more than one driver uses
// in a run, whose cases share one memory of addresses. The system gives half of
// some 28,000; it is asked again for one of these.
const rest = 6000

// listen opens a port that no case had lately.
func listen() (net.Listener, error) {
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil || spend(l.Addr()) {
			return l, err
		}
		_ = l.Close()
	}
}

func spend(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return true
	}
	spent.Lock()
	defer spent.Unlock()
	if slices.Contains(spent.ports, tcp.Port) {
		return false
	}
	if spent.ports = append(spent.ports, tcp.Port); len(spent.ports) > rest {
		spent.ports = spent.ports[1:]
	}
	return true
}
