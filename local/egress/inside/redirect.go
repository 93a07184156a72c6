package inside

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

const tableName = "egress"

// icmpPortUnreachable makes a UDP socket fail with "connection refused" at once.
const icmpPortUnreachable = 3

// redirect loads the packet rules: TCP and DNS go to the relay's ports, what
// stays inside passes, everything else is refused with an ICMP answer.
func redirect(tcpPort, dnsPort uint16) error {
	b := &batch{}
	b.frame(unix.NFNL_MSG_BATCH_BEGIN)
	b.table()
	b.chain("nat", "nat", -100)
	b.keepInside("nat", unix.NFT_RETURN)
	b.rule("nat", func() { b.protocol(unix.IPPROTO_TCP); b.redirectTo(tcpPort) })
	b.rule("nat", func() { b.protocol(unix.IPPROTO_UDP); b.port(53); b.redirectTo(dnsPort) })
	b.chain("filter", "filter", 0)
	b.keepInside("filter", 1) // NF_ACCEPT
	b.rule("filter", b.reject)
	b.frame(unix.NFNL_MSG_BATCH_END)
	if err := b.send(unix.NETLINK_NETFILTER); err != nil {
		return fmt.Errorf("load nftables rules: %w", err)
	}
	return nil
}

func (b *batch) frame(kind uint16) {
	b.begin(kind, 0)
	b.raw(unix.AF_UNSPEC, unix.NFNETLINK_V0, 0, unix.NFNL_SUBSYS_NFTABLES)
	b.end()
}

func (b *batch) object(kind, flags uint16, fill func()) {
	b.begin(unix.NFNL_SUBSYS_NFTABLES<<8|kind, flags|unix.NLM_F_ACK|unix.NLM_F_CREATE)
	b.raw(unix.AF_INET, unix.NFNETLINK_V0, 0, 0)
	fill()
	b.end()
}

func (b *batch) table() {
	b.object(unix.NFT_MSG_NEWTABLE, 0, func() { b.text(unix.NFTA_TABLE_NAME, tableName) })
}

func (b *batch) chain(name, kind string, priority int32) {
	b.object(unix.NFT_MSG_NEWCHAIN, 0, func() {
		b.text(unix.NFTA_CHAIN_TABLE, tableName)
		b.text(unix.NFTA_CHAIN_NAME, name)
		b.nest(unix.NFTA_CHAIN_HOOK, func() {
			b.big(unix.NFTA_HOOK_HOOKNUM, unix.NF_INET_LOCAL_OUT)
			b.big(unix.NFTA_HOOK_PRIORITY, uint32(priority))
		})
		b.text(unix.NFTA_CHAIN_TYPE, kind)
	})
}

func (b *batch) rule(chain string, expressions func()) {
	b.object(unix.NFT_MSG_NEWRULE, unix.NLM_F_APPEND, func() {
		b.text(unix.NFTA_RULE_TABLE, tableName)
		b.text(unix.NFTA_RULE_CHAIN, chain)
		b.nest(unix.NFTA_RULE_EXPRESSIONS, expressions)
	})
}

// keepInside ends the chain for 127.0.0.0/8 and for the sandbox's own address.
func (b *batch) keepInside(chain string, verdict int32) {
	b.rule(chain, func() { b.destination(127); b.verdict(verdict) })
	b.rule(chain, func() { b.destination(address[:]...); b.verdict(verdict) })
}

func (b *batch) expression(name string, fill func()) {
	b.nest(unix.NFTA_LIST_ELEM, func() {
		b.text(unix.NFTA_EXPR_NAME, name)
		b.nest(unix.NFTA_EXPR_DATA, fill)
	})
}

// destination matches the leading bytes of the IPv4 destination address.
func (b *batch) destination(prefix ...byte) {
	b.payload(unix.NFT_PAYLOAD_NETWORK_HEADER, 16, len(prefix))
	b.equals(prefix...)
}

func (b *batch) port(p uint16) {
	b.payload(unix.NFT_PAYLOAD_TRANSPORT_HEADER, 2, 2)
	b.equals(binary.BigEndian.AppendUint16(nil, p)...)
}

func (b *batch) payload(base uint32, offset, length int) {
	b.expression("payload", func() {
		b.big(unix.NFTA_PAYLOAD_DREG, unix.NFT_REG_1)
		b.big(unix.NFTA_PAYLOAD_BASE, base)
		b.big(unix.NFTA_PAYLOAD_OFFSET, uint32(offset))
		b.big(unix.NFTA_PAYLOAD_LEN, uint32(length))
	})
}

func (b *batch) protocol(number byte) {
	b.expression("meta", func() {
		b.big(unix.NFTA_META_DREG, unix.NFT_REG_1)
		b.big(unix.NFTA_META_KEY, unix.NFT_META_L4PROTO)
	})
	b.equals(number)
}

func (b *batch) equals(value ...byte) {
	b.expression("cmp", func() {
		b.big(unix.NFTA_CMP_SREG, unix.NFT_REG_1)
		b.big(unix.NFTA_CMP_OP, unix.NFT_CMP_EQ)
		b.nest(unix.NFTA_CMP_DATA, func() { b.attr(unix.NFTA_DATA_VALUE, value...) })
	})
}

func (b *batch) verdict(code int32) {
	b.expression("immediate", func() {
		b.big(unix.NFTA_IMMEDIATE_DREG, unix.NFT_REG_VERDICT)
		b.nest(unix.NFTA_IMMEDIATE_DATA, func() {
			b.nest(unix.NFTA_DATA_VERDICT, func() { b.big(unix.NFTA_VERDICT_CODE, uint32(code)) })
		})
	})
}

func (b *batch) redirectTo(port uint16) {
	b.expression("immediate", func() {
		b.big(unix.NFTA_IMMEDIATE_DREG, unix.NFT_REG_1)
		b.nest(unix.NFTA_IMMEDIATE_DATA, func() {
			b.attr(unix.NFTA_DATA_VALUE, binary.BigEndian.AppendUint16(nil, port)...)
		})
	})
	b.expression("redir", func() { b.big(unix.NFTA_REDIR_REG_PROTO_MIN, unix.NFT_REG_1) })
}

func (b *batch) reject() {
	b.expression("reject", func() {
		b.big(unix.NFTA_REJECT_TYPE, unix.NFT_REJECT_ICMP_UNREACH)
		b.attr(unix.NFTA_REJECT_ICMP_CODE, icmpPortUnreachable)
	})
}
