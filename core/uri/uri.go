// Package uri writes and checks the few URLs that the core makes. net/url costs
// the WebAssembly build 0.1 MB.
package uri

import (
	"slices"
	"strings"
)

const digits = "0123456789ABCDEF"

// Escape writes every byte of s that is not unreserved (RFC 3986) as %XX.
func Escape(s string) string {
	n := 0
	for i := range len(s) {
		if !unreserved(s[i]) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if c := s[i]; unreserved(c) {
			b = append(b, c)
		} else {
			b = append(b, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(b)
}

func unreserved(c byte) bool {
	return alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '~'
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Query is a list of parameters.
type Query [][2]string

// Encode writes the query, in the order of its names, with a space as +, as E2B's
// SDKs do.
func (q Query) Encode() string {
	sorted := slices.Clone(q)
	slices.SortStableFunc(sorted, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	var b strings.Builder
	for i, p := range sorted {
		if i > 0 {
			b.WriteByte('&')
		}
		b.WriteString(plus(p[0]))
		b.WriteByte('=')
		b.WriteString(plus(p[1]))
	}
	return b.String()
}

func plus(s string) string { return strings.ReplaceAll(Escape(s), "%20", "+") }

// IsBase tells whether s can be the base of a service: http or https, a host, a
// port where there is one, a path, and nothing more.
func IsBase(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return false
	}
	authority, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	return isAuthority(authority) && isPath(path)
}

// IsDomain tells whether hosts of a service can be named below s: a host name in
// ASCII, and a port where there is one.
func IsDomain(s string) bool {
	host, port, hasPort := strings.Cut(s, ":")
	if host == "" || len(host) > 253 || !isPort(port, hasPort) || (hasPort && port == "") {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			return r >= 0x80 || !alphanumeric(byte(r)) && r != '-' && r != '_'
		}) {
			return false
		}
	}
	return true
}

func isAuthority(s string) bool {
	if strings.HasPrefix(s, "[") {
		return isBracketed(s[1:])
	}
	host, port, hasPort := strings.Cut(s, ":")
	return host != "" && !strings.ContainsFunc(host, notInHost) && isPort(port, hasPort)
}

// isBracketed is for an IPv6 address and what follows it.
func isBracketed(s string) bool {
	address, rest, closed := strings.Cut(s, "]")
	if !closed || address == "" || strings.Trim(address, "0123456789abcdefABCDEF:.") != "" {
		return false
	}
	port, hasPort := strings.CutPrefix(rest, ":")
	return (hasPort || rest == "") && isPort(port, hasPort)
}

// notInHost lets names in other scripts pass: resolving them is the host's.
func notInHost(r rune) bool {
	return r < 0x80 && !unreserved(byte(r))
}

func isPort(port string, has bool) bool {
	return !has || len(port) <= 5 && strings.Trim(port, "0123456789") == ""
}

func isPath(s string) bool {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c == 0x7f || c == '?' || c == '#' || c == '\\':
			return false
		case c == '%':
			if len(s) < i+3 || strings.Trim(s[i+1:i+3], "0123456789abcdefABCDEF") != "" {
				return false
			}
		}
	}
	return true
}
