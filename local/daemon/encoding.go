package daemon

import (
	"net/http"
	"strconv"
	"strings"
)

// acceptedEncoding chooses "gzip" or "identity" for an answer, or "" when both are
// refused. Gzip wins where it is wished at least as much as identity.
func acceptedEncoding(header http.Header) string {
	gzip, identity, other := -1.0, -1.0, -1.0
	for _, line := range header.Values("Accept-Encoding") {
		for item := range strings.SplitSeq(line, ",") {
			name, weight := parseCoding(item)
			switch name {
			case "gzip", "x-gzip":
				gzip = weight
			case "identity":
				identity = weight
			case "*":
				other = weight
			}
		}
	}
	if gzip < 0 {
		gzip = max(other, 0)
	}
	if identity < 0 {
		// Identity is acceptable unless it is refused, by name or by "*;q=0".
		identity = 1
		if other >= 0 {
			identity = other
		}
		if identity > 0 && gzip > 0 {
			return "gzip"
		}
	}
	switch {
	case gzip > 0 && gzip >= identity:
		return "gzip"
	case identity > 0:
		return "identity"
	}
	return ""
}

// parseCoding splits "gzip;q=0.5"; a weight that cannot be read is 1.
func parseCoding(item string) (name string, weight float64) {
	name, parameters, _ := strings.Cut(item, ";")
	weight = 1
	for parameter := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if !strings.EqualFold(strings.TrimSpace(key), "q") {
			continue
		}
		if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && q >= 0 && q <= 1 {
			weight = q
		}
	}
	return strings.ToLower(strings.TrimSpace(name)), weight
}
