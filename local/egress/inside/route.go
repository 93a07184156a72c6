package inside

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// loopback is the index of lo, the same in every network namespace.
const loopback = 1

// address is what the sandbox has on lo beside 127.0.0.1. QEMU's user network
// uses the same addresses, so tools know them.
var address = [4]byte{10, 0, 2, 15}

// nameserver is any address outside: questions to all of them end at the relay.
const nameserver = "10.0.2.3"

func bringUp() error {
	b := &batch{}
	b.linkUp()
	if err := b.send(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	return nil
}

// route gives lo the address and the default route. IPv6 gets none, so that
// connecting to it fails at once instead of waiting.
func route() error {
	b := &batch{}
	b.linkUp()
	b.addAddress()
	b.addRoute()
	if err := b.send(unix.NETLINK_ROUTE); err != nil {
		return fmt.Errorf("address lo: %w", err)
	}
	return nil
}

func (b *batch) linkUp() {
	b.begin(unix.RTM_NEWLINK, unix.NLM_F_ACK)
	b.raw(unix.AF_UNSPEC, 0, 0, 0)
	b.u32(loopback)
	b.u32(unix.IFF_UP)
	b.u32(unix.IFF_UP)
	b.end()
}

func (b *batch) addAddress() {
	b.begin(unix.RTM_NEWADDR, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
	b.raw(unix.AF_INET, 32, 0, unix.RT_SCOPE_UNIVERSE)
	b.u32(loopback)
	b.attr(unix.IFA_LOCAL, address[:]...)
	b.attr(unix.IFA_ADDRESS, address[:]...)
	b.end()
}

func (b *batch) addRoute() {
	b.begin(unix.RTM_NEWROUTE, unix.NLM_F_ACK|unix.NLM_F_CREATE|unix.NLM_F_REPLACE)
	b.raw(unix.AF_INET, 0, 0, 0, unix.RT_TABLE_MAIN, unix.RTPROT_BOOT, unix.RT_SCOPE_LINK, unix.RTN_UNICAST)
	b.u32(0)
	b.attr(unix.RTA_OIF, binary.NativeEndian.AppendUint32(nil, loopback)...)
	b.attr(unix.RTA_PREFSRC, address[:]...)
	b.end()
}
