package egress

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Limits of header rules (e2b.md 1.2).
const (
	maxRuleDomains     = 10
	maxTransforms      = 1
	maxRuleDomain      = 128
	maxHeaderName      = 64
	maxHeaderValue     = 2048
	maxHeaders         = 20
	maxEntries         = 1000
	envdPort           = 49983
	maxProxyCredential = 255
)

const allTraffic = "0.0.0.0/0"

const domainsNeedBlockAll = "When specifying allowed domains in allow out, you must include 'ALL_TRAFFIC' in deny out to block all other traffic."

// Validate checks the rules as E2B does (e2b.md 1.2). Errors are *InvalidError.
func (r Rules) Validate() error {
	for _, check := range []func() error{r.checkAllow, r.checkDeny, r.checkPorts, r.checkTransforms, r.EgressProxy.check} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (r Rules) checkAllow() error {
	if len(r.AllowOut) > maxEntries {
		return invalid("allow out has more than %d entries", maxEntries)
	}
	domains := false
	for _, entry := range r.AllowOut {
		if _, err := parsePrefix(entry); err == nil {
			continue
		}
		if !isPattern(entry) {
			return invalid("invalid allow out entry %q: not a CIDR, an IP address or a domain", entry)
		}
		domains = true
	}
	if domains && !slices.Contains(r.DenyOut, allTraffic) {
		return invalid(domainsNeedBlockAll)
	}
	return nil
}

func (r Rules) checkDeny() error {
	if len(r.DenyOut) > maxEntries {
		return invalid("deny out has more than %d entries", maxEntries)
	}
	for _, entry := range r.DenyOut {
		if _, err := parsePrefix(entry); err != nil {
			return invalid("invalid denied CIDR %s", entry)
		}
	}
	return nil
}

func (r Rules) checkPorts() error {
	for _, p := range r.HTTPSPorts {
		if p < 1 || p > 65535 || p == envdPort {
			return invalid("invalid https port %d", p)
		}
	}
	return nil
}

func (r Rules) checkTransforms() error {
	if len(r.Transform) > maxRuleDomains {
		return invalid("network rules may name at most %d domains", maxRuleDomains)
	}
	for domain, rules := range r.Transform {
		name := strings.TrimPrefix(domain, plainHTTP)
		if len(name) > maxRuleDomain || !isPattern(name) {
			return invalid("invalid network rule domain %q", domain)
		}
		if len(rules) > maxTransforms {
			return invalid("network rule for %q may have at most %d transform", domain, maxTransforms)
		}
		for _, rule := range rules {
			if err := rule.check(domain); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h HeaderRule) check(domain string) error {
	if h.Transform == nil {
		return nil
	}
	if len(h.Transform.Headers) > maxHeaders {
		return invalid("network rule for %q may have at most %d headers", domain, maxHeaders)
	}
	for name, value := range h.Transform.Headers {
		switch {
		case len(name) > maxHeaderName || !isToken(name):
			return invalid("network rule for %q has an invalid header name", domain)
		case len(value) > maxHeaderValue || strings.ContainsFunc(value, isControl):
			return invalid("network rule for %q has an invalid value of header %s", domain, name)
		case strings.Contains(value, "${e2b."):
			return invalid("network rule for %q: secrets and identity tokens are not supported by the local provider", domain)
		case framing(name):
			return invalid("network rule for %q may not set header %s", domain, name)
		}
	}
	if len(h.Transform.Headers) > 0 && !strings.HasPrefix(domain, plainHTTP) {
		return invalid("network rule for %q: the local provider cannot change headers inside TLS; for plain HTTP write the domain as %q", domain, plainHTTP+domain)
	}
	return nil
}

// plainHTTP in front of a rule's domain says that only plain HTTP is meant.
const plainHTTP = "http://"

func (p *Proxy) check() error {
	if p == nil {
		return nil
	}
	host, port, err := net.SplitHostPort(p.Address)
	n, convErr := strconv.ParseUint(port, 10, 16)
	if err != nil || convErr != nil || n == 0 || host == "" {
		return invalid("egress proxy address must be host:port")
	}
	if len(p.Username) > maxProxyCredential || len(p.Password) > maxProxyCredential {
		return invalid("egress proxy user name and password may have at most %d bytes", maxProxyCredential)
	}
	if p.Username == "" && p.Password != "" {
		return invalid("egress proxy has a password but no user name")
	}
	return nil
}

// parsePrefix reads an address or a CIDR block; host bits are dropped. Zones and
// IPv4 in IPv6 clothes are refused: they would never match what is dialled.
func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err != nil {
		a, addrErr := netip.ParseAddr(s)
		if addrErr != nil {
			return netip.Prefix{}, err
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if p.Addr().Zone() != "" || p.Addr().Is4In6() {
		return netip.Prefix{}, invalid("%s is not a plain address", s)
	}
	return p.Masked(), nil
}
