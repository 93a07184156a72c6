package inside

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/egress/wire"
)

// maxQuery is the largest UDP question taken; answers over maxAnswer are cut and
// marked so that the program asks again over TCP.
const (
	maxQuery  = 4096
	maxAnswer = 1232
)

func (r *Relay) serveDNS() {
	buf := make([]byte, maxQuery)
	for {
		n, from, err := r.dns.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			time.Sleep(acceptPause)
		default:
			r.answer(append([]byte(nil), buf[:n]...), from)
		}
	}
}

// answer asks the host in a goroutine of its own, one connection a question. A
// question that cannot be asked is dropped, as a busy server would.
func (r *Relay) answer(question []byte, from netip.AddrPort) {
	host, _, err := r.ask(wire.Request{Kind: wire.DNS})
	if err != nil {
		return
	}
	r.open.Go(host, func() {
		_ = host.SetDeadline(time.Now().Add(answerClock))
		if wire.WriteMessage(host, question) != nil {
			return
		}
		reply, err := wire.ReadMessage(host)
		if err == nil {
			_, _ = r.dns.WriteToUDPAddrPort(truncate(reply), from)
		}
	})
}

// truncate cuts an answer to its header and sets TC, when it is too long.
func truncate(reply []byte) []byte {
	if len(reply) <= maxAnswer {
		return reply
	}
	head := append([]byte(nil), reply[:12]...)
	head[2] |= 0x02
	copy(head[4:], make([]byte, 8))
	return head
}
