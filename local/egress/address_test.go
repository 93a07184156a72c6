package egress

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClassOfAddresses(t *testing.T) {
	g := newGuard([]netip.Addr{netip.MustParseAddr("8.8.4.4"), netip.MustParseAddr("fe80::1%eth0"), netip.MustParseAddr("::ffff:8.8.4.5")})
	for class, addrs := range map[Class][]string{
		Public:     {"8.8.8.8", "1.1.1.1", "223.255.255.255", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "2620:fe::fe", "2606:4700::1"},
		Loopback:   {"127.0.0.1", "127.255.255.254", "127.0.0.53", "::1"},
		Private:    {"10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1", "100.127.255.255", "fc00::1", "fd12:3456::1", "fec0::1"},
		LinkLocal:  {"169.254.0.1", "169.254.255.255", "fe80::2", "fe80::2%lo", "febf::1"},
		Metadata:   {"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"},
		Multicast:  {"224.0.0.1", "239.255.255.250", "ff02::1", "ff0e::1"},
		Translated: {"::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:1::1", "::10.0.0.1", "::7f00:1"},
		Reserved:   {"0.0.0.0", "0.1.2.3", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.80", "240.0.0.1", "255.255.255.255", "2001:db8::1", "100::1", "2001:20::1"},
		HostOwn:    {"8.8.4.4", "8.8.4.5"},
	} {
		for _, a := range addrs {
			require.Equal(t, class, g.class(netip.MustParseAddr(a)), a)
		}
	}
	require.Equal(t, Reserved, g.class(netip.Addr{}))
	require.NotEqual(t, Public, g.class(netip.MustParseAddr("::")))
	require.Equal(t, LinkLocal, g.class(netip.MustParseAddr("fe80::1")))
}

func TestRuleNamesOnlyWhatItMeans(t *testing.T) {
	g := newGuard([]netip.Addr{netip.MustParseAddr("192.168.7.9")})
	for _, c := range []struct {
		rule, addr string
		want       bool
	}{
		{"0.0.0.0/0", "8.8.8.8", true},
		{"0.0.0.0/0", "10.0.0.1", false},
		{"8.0.0.0/5", "10.0.0.1", false},
		{"10.0.0.0/8", "10.0.0.1", true},
		{"10.0.0.1/32", "10.0.0.1", true},
		{"169.254.0.0/16", "169.254.1.1", true},
		{"169.254.0.0/16", "169.254.169.254", false},
		{"169.254.169.254/32", "169.254.169.254", true},
		{"127.0.0.0/8", "127.0.0.1", true},
		{"192.168.0.0/16", "192.168.7.9", false},
		{"192.168.7.9/32", "192.168.7.9", true},
		{"::/0", "fd00::1", false},
		{"fd00::/8", "fd00::1", true},
		{"fd00::/8", "fd00:ec2::254", false},
		{"0.0.0.0/0", "::ffff:8.8.8.8", false},
		{"::/0", "::ffff:8.8.8.8", false},
	} {
		require.Equal(t, c.want, g.names(netip.MustParsePrefix(c.rule), netip.MustParseAddr(c.addr)), "%s %s", c.rule, c.addr)
	}
}

func TestNamesThatAreAddressesAreNoNames(t *testing.T) {
	for _, s := range []string{
		"", ".", "..", "a..b", "-a.test", "a-.test", "127.1", "2130706433", "0x7f.1", "0x7f000001", "0177.0.0.1", "1.2.3.4", "a.0x1",
		"a b", "a/b", "a:80", "[::1]", "user@host", "a\x00.test", "ä.test", "a%2e.test",
	} {
		require.Empty(t, canonical(s), s)
	}
	for s, want := range map[string]string{
		"Example.COM.": "example.com", "xn--e1afmkfd.test": "xn--e1afmkfd.test", "_srv.a": "_srv.a", "1password.test": "1password.test", "host": "host",
	} {
		require.Equal(t, want, canonical(s))
	}
}

func TestPatternsMatchWholeLabels(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"example.com", "example.com", true},
		{"Example.com.", "example.com", true},
		{"example.com", "www.example.com", false},
		{"*.example.com", "www.example.com", true},
		{"*.example.com", "a.b.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "evilexample.com", false},
		{"*", "anything.test", true},
		{"*", "", false},
	} {
		require.Equal(t, c.want, matches(c.pattern, c.name), "%s %s", c.pattern, c.name)
	}
}
