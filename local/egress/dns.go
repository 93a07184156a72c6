package egress

import (
	"context"
	"errors"
	"net"
	"net/netip"

	"golang.org/x/net/dns/dnsmessage"
)

// answerTTL is in seconds: a little less than freshFor.
const answerTTL = 20

// errQuestion is returned for a message that is not one question.
var errQuestion = errors.New("not a DNS question")

// answerDNS makes the reply to one question. A names are answered from the host's
// resolver; AAAA and other types exist but are empty, since inside there is
// only IPv4.
func (p *Policy) answerDNS(ctx context.Context, message []byte) ([]byte, error) {
	head, q, err := parseQuestion(message)
	if err != nil {
		return nil, err
	}
	reply := dnsmessage.Header{
		ID: head.ID, Response: true, OpCode: head.OpCode,
		RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
	}
	var addrs []netip.Addr
	switch {
	case q.Class != dnsmessage.ClassINET:
		reply.RCode = dnsmessage.RCodeRefused
	default:
		addrs, reply.RCode = p.resolve(ctx, q)
	}
	return buildReply(reply, q, addrs)
}

func parseQuestion(message []byte) (dnsmessage.Header, dnsmessage.Question, error) {
	var parser dnsmessage.Parser
	head, err := parser.Start(message)
	if err != nil {
		return head, dnsmessage.Question{}, errors.Join(errQuestion, err)
	}
	if head.Response || head.OpCode != 0 {
		return head, dnsmessage.Question{}, errQuestion
	}
	q, err := parser.Question()
	if err != nil {
		return head, q, errors.Join(errQuestion, err)
	}
	return head, q, nil
}

func buildReply(head dnsmessage.Header, q dnsmessage.Question, addrs []netip.Addr) ([]byte, error) {
	b := dnsmessage.NewBuilder(nil, head)
	b.EnableCompression()
	err := errors.Join(b.StartQuestions(), b.Question(q), b.StartAnswers())
	for _, a := range addrs {
		resource := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: answerTTL}
		err = errors.Join(err, b.AResource(resource, dnsmessage.AResource{A: a.As4()}))
	}
	if err != nil {
		return nil, err
	}
	return b.Finish()
}

// resolve gives the IPv4 addresses that a name has inside.
func (p *Policy) resolve(ctx context.Context, q dnsmessage.Question) ([]netip.Addr, dnsmessage.RCode) {
	s := p.ruleset()
	name := canonical(q.Name.String())
	switch {
	case name == "" || !s.resolvable(name):
		return nil, dnsmessage.RCodeNameError
	case q.Type == dnsmessage.TypePTR:
		return nil, dnsmessage.RCodeNameError
	case q.Type != dnsmessage.TypeA:
		return nil, dnsmessage.RCodeSuccess
	case p.host.proxies(name, 0):
		return []netip.Addr{p.book.standIn(name)}, dnsmessage.RCodeSuccess
	}
	addrs, err := p.lookup(ctx, name)
	if err != nil {
		return nil, failure(err)
	}
	return p.asSeenInside(name, p.reachable(s, name, addrs)), dnsmessage.RCodeSuccess
}

func failure(err error) dnsmessage.RCode {
	var notFound *net.DNSError
	if errors.As(err, &notFound) && notFound.IsNotFound {
		return dnsmessage.RCodeNameError
	}
	return dnsmessage.RCodeServerFailure
}

// asSeenInside keeps IPv4, puts hostInside for the host's loopback, and gives a
// name that has only IPv6 a stand-in.
func (p *Policy) asSeenInside(name string, addrs []netip.Addr) []netip.Addr {
	var seen []netip.Addr
	for _, a := range addrs {
		switch {
		case a == hostLoopback():
			seen = append(seen, hostInside())
		case a.Is4() && !a.IsLoopback():
			seen = append(seen, a)
		}
	}
	if len(seen) == 0 && len(addrs) > 0 {
		return []netip.Addr{p.book.standIn(name)}
	}
	return seen
}
