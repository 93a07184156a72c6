package api

import "encoding/json"

// Network is the network part of create and of SandboxDetail (e2b.md 1.2).
type Network struct {
	AllowOut           []string              `json:"allowOut,omitempty"`
	DenyOut            []string              `json:"denyOut,omitempty"`
	Rules              map[string][]HostRule `json:"rules,omitempty"`
	EgressProxy        *EgressProxy          `json:"egressProxy,omitempty"`
	AllowPublicTraffic *bool                 `json:"allowPublicTraffic,omitempty"`
	MaskRequestHost    string                `json:"maskRequestHost,omitempty"`
	HTTPSPorts         []int                 `json:"httpsPorts,omitempty"`
	// DNSServers is refused: names are resolved as the host resolves them.
	DNSServers []string `json:"dnsServers,omitempty"`
}

// NetworkUpdate is the body of PUT /sandboxes/{id}/network: an absent field is
// cleared.
type NetworkUpdate struct {
	AllowOut            []string              `json:"allowOut"`
	DenyOut             []string              `json:"denyOut"`
	Rules               map[string][]HostRule `json:"rules"`
	EgressProxy         *EgressProxy          `json:"egressProxy"`
	AllowInternetAccess *bool                 `json:"allow_internet_access"`
	DNSServers          []string              `json:"dnsServers"`
}

// HostRule changes what is sent to one host.
type HostRule struct {
	Transform *Transform `json:"transform,omitempty"`
}

// Transform sets headers of outgoing requests.
type Transform struct {
	Headers map[string]string `json:"headers,omitempty"`
}

// EgressProxy is a SOCKS5 proxy that all outgoing connections take.
type EgressProxy struct {
	Address  string `json:"address"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// TLS is refused: the proxy is spoken to in the clear.
	TLS json.RawMessage `json:"tls,omitempty"`
}

// Shown returns n as SandboxDetail may show it: without the proxy's password
// .
func (n *Network) Shown() *Network {
	if n == nil {
		return nil
	}
	shown := *n
	if n.EgressProxy != nil {
		shown.EgressProxy = &EgressProxy{Address: n.EgressProxy.Address, Username: n.EgressProxy.Username}
	}
	return &shown
}

// With returns n after an update. Fields that the update does not know stay.
func (n *Network) With(u *NetworkUpdate) *Network {
	next := Network{}
	if n != nil {
		next = *n
	}
	next.AllowOut, next.DenyOut = u.AllowOut, u.DenyOut
	next.Rules, next.EgressProxy = u.Rules, u.EgressProxy
	return &next
}

// CheckEgress refuses what would otherwise be dropped in silence.
func CheckEgress(dnsServers []string, proxy *EgressProxy) error {
	if len(dnsServers) > 0 {
		return Unsupported("resolves names as the host does: leave dnsServers out")
	}
	if proxy != nil && len(proxy.TLS) > 0 && string(proxy.TLS) != "null" && string(proxy.TLS) != "false" {
		return Unsupported("does not speak TLS to an egress proxy")
	}
	return nil
}
