package egress

import (
	"context"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"
)

func question(t testing.TB, name string, kind dnsmessage.Type) []byte {
	n, err := dnsmessage.NewName(name)
	require.NoError(t, err)
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: 7, RecursionDesired: true}, Questions: []dnsmessage.Question{{Name: n, Type: kind, Class: dnsmessage.ClassINET}}}
	b, err := m.Pack()
	require.NoError(t, err)
	return b
}

// ask gives the answer to an A question as text, and its code.
func (w *world) ask(name string, kind dnsmessage.Type) (addrs []string, code dnsmessage.RCode) {
	w.t.Helper()
	b, err := w.policy.answerDNS(context.Background(), question(w.t, name, kind))
	require.NoError(w.t, err)
	var m dnsmessage.Message
	require.NoError(w.t, m.Unpack(b))
	require.True(w.t, m.Response)
	require.EqualValues(w.t, 7, m.ID)
	for _, r := range m.Answers {
		a, ok := r.Body.(*dnsmessage.AResource)
		require.True(w.t, ok)
		addrs = append(addrs, addrOf(a.A))
	}
	return addrs, m.RCode
}

func addrOf(a [4]byte) string { return netip.AddrFrom4(a).String() }

func TestNamesAreAnsweredAsFarAsTheyMayBeReached(t *testing.T) {
	w := newWorld(t, "https://index.test/")
	w.name("both.test", "2620:fe::fe 9.9.9.9")
	w.name("six.test", "2620:fe::fe")
	w.name("intra.test", "10.0.0.8")
	w.name("mixed.test", "10.0.0.8 9.9.9.9")
	w.name("index.test", "10.0.0.8")
	w.name("trap.test", "::ffff:10.0.0.8")
	w.open(Rules{})
	for name, want := range map[string][]string{
		"both.test.": {"9.9.9.9"}, "BOTH.test.": {"9.9.9.9"}, "six.test.": {"198.18.0.1"}, "intra.test.": nil,
		"mixed.test.": {"9.9.9.9"}, "index.test.": {"10.0.0.8"}, "trap.test.": nil,
	} {
		got, code := w.ask(name, dnsmessage.TypeA)
		require.Equal(t, want, got, name)
		require.Equal(t, dnsmessage.RCodeSuccess, code, name)
	}
	for _, name := range []string{"none.test.", "127.1.", "2130706433."} {
		_, code := w.ask(name, dnsmessage.TypeA)
		require.Equal(t, dnsmessage.RCodeNameError, code, name)
	}
	for kind, want := range map[dnsmessage.Type]dnsmessage.RCode{dnsmessage.TypeAAAA: 0, dnsmessage.TypeMX: 0, 65: 0, dnsmessage.TypePTR: dnsmessage.RCodeNameError} {
		got, code := w.ask("both.test.", kind)
		require.Empty(t, got)
		require.Equal(t, want, code)
	}
}

func TestNamesAreNotAskedWhereAllIsDenied(t *testing.T) {
	w := newWorld(t)
	w.name("good.test", "9.9.9.9")
	w.name("data.evil.test", "9.9.9.9")
	w.open(Rules{AllowOut: []string{"good.test"}, DenyOut: []string{"0.0.0.0/0"}})
	got, _ := w.ask("good.test.", dnsmessage.TypeA)
	require.Equal(t, []string{"9.9.9.9"}, got)
	_, code := w.ask("data.evil.test.", dnsmessage.TypeA)
	require.Equal(t, dnsmessage.RCodeNameError, code)
	require.Len(t, w.names["data.evil.test."], 1)
}

func TestBookForgetsTheOldest(t *testing.T) {
	b := newBook()
	for i := range maxNames + 10 {
		b.standIn(string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)))
	}
	require.Len(t, b.entries, maxNames)
	require.Len(t, b.standIns, maxNames)
	require.Len(t, b.order, maxNames)
}

func FuzzAnswerDNS(f *testing.F) {
	f.Add(question(f, "a.test.", dnsmessage.TypeA))
	f.Add([]byte{})
	p := newPolicy(NewHost(HostOptions{Resolver: everywhere{}}), nil, &ruleset{})
	f.Fuzz(func(t *testing.T, b []byte) {
		reply, err := p.answerDNS(context.Background(), b)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		require.NoError(t, m.Unpack(reply))
		require.Len(t, m.Questions, 1)
	})
}

// everywhere resolves every name to one public address.
type everywhere struct{}

func (everywhere) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{addr("9.9.9.9")}, nil
}
