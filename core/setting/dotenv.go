package setting

import (
	"bytes"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

const maxDotEnv = 1 << 20

// parseDotEnv reads KEY=VALUE lines for the wanted keys. Lines that are not
// ours are none of our business, whatever they hold; nothing is expanded.
func parseDotEnv(b []byte, wanted map[string]bool) (map[string]string, error) {
	if len(b) > maxDotEnv {
		return nil, fault.InvalidArgument(".env has %d bytes, more than %d", len(b), maxDotEnv)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	values := map[string]string{}
	for i, line := range bytes.Split(b, []byte("\n")) {
		key, value, ok := dotEnvLine(string(bytes.TrimSuffix(line, []byte("\r"))))
		if !ok || !wanted[key] {
			continue
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
			return nil, fault.InvalidArgument(".env line %d: the value of %s has a control character or is not UTF-8", i+1, key)
		}
		values[key] = value
	}
	return values, nil
}

func dotEnvLine(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if rest, ok := strings.CutPrefix(line, "export"); ok && strings.TrimLeft(rest, " \t") != rest {
		line = strings.TrimSpace(rest)
	}
	key, value, ok = strings.Cut(line, "=")
	if !ok || strings.HasPrefix(line, "#") {
		return "", "", false
	}
	return strings.TrimSpace(key), unquote(strings.TrimSpace(value)), true
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') {
		if end := strings.IndexByte(v[1:], v[0]); end >= 0 {
			return v[1 : 1+end]
		}
	}
	if i := strings.Index(v, " #"); i >= 0 {
		v = strings.TrimSpace(v[:i])
	}
	return v
}
