package egress

import "strings"

// maxName is the longest host name in bytes (RFC 1035).
const maxName = 253

// canonical lower-cases a name and drops the root's dot. Not a name: "".
func canonical(name string) string {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	if !isName(name) {
		return ""
	}
	return name
}

// isName tells whether s is a host name that no resolver or proxy could take for
// an address: forms such as 127.1, 0x7f.1 and 2130706433 are not names.
func isName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.ContainsFunc(l, notInLabel) || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
	}
	return !numeric(labels[len(labels)-1])
}

func notInLabel(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_')
}

func numeric(label string) bool {
	if strings.HasPrefix(label, "0x") || strings.HasPrefix(label, "0X") {
		return true
	}
	return !strings.ContainsFunc(label, func(c rune) bool { return c < '0' || c > '9' })
}

// isPattern tells whether s may stand in a rule: a name, *.name, or * for all.
func isPattern(s string) bool {
	return s == "*" || isName(strings.TrimSuffix(strings.TrimPrefix(s, "*."), "."))
}

// matches compares a canonical name with a pattern of a rule. *.example.com
// means what is below example.com, not itself.
func matches(pattern, name string) bool {
	pattern = strings.ToLower(strings.TrimSuffix(pattern, "."))
	if pattern == "*" {
		return name != ""
	}
	if suffix, wild := strings.CutPrefix(pattern, "*"); wild {
		return len(name) > len(suffix) && strings.HasSuffix(name, suffix)
	}
	return pattern == name
}

// local tells whether a name means the machine that resolves it, or a cloud's
// metadata service: such a name is never handed to a proxy.
func local(name string) bool {
	for _, n := range []string{"localhost", "localdomain", "metadata.google.internal", "metadata"} {
		if name == n || strings.HasSuffix(name, "."+n) {
			return true
		}
	}
	return false
}

func isToken(s string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(marks, c))
	})
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// framing tells whether a header decides where a message ends or goes.
func framing(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "trailer", "te", "expect":
		return true
	}
	return false
}
