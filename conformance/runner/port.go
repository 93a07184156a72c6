package runner

import (
	"net"
	"sync"
)

// spent are the ports that cases had. A client remembers which codec an address
// speaks, and tells one for some seconds what became of its callers: no case may
// be met by what was meant for another.
var spent = struct {
	sync.Mutex
	ports map[int]bool
}{ports: map[int]bool{}}

// manyPorts is how many are spent before they are used again: the system has some
// 28,000 to give.
const manyPorts = 14_000

// listen opens a port that no case had.
func listen() (net.Listener, error) {
	var refused []net.Listener
	defer func() {
		for _, l := range refused {
			_ = l.Close()
		}
	}()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil || spend(l.Addr()) {
			return l, err
		}
		refused = append(refused, l) // held meanwhile, so that it is not given again
	}
}

func spend(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	if !ok {
		return true
	}
	spent.Lock()
	defer spent.Unlock()
	if len(spent.ports) >= manyPorts {
		clear(spent.ports)
	}
	if spent.ports[tcp.Port] {
		return false
	}
	spent.ports[tcp.Port] = true
	return true
}
