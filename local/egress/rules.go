package egress

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Rules say where one sandbox may connect to (e2b.md 1.2, `network`). The zero
// value lets through everything but the protected addresses (see Class).
type Rules struct {
	// AllowOut names addresses, CIDR blocks, domains and *.domains that are let
	// through. It always wins over DenyOut.
	AllowOut []string `json:"allowOut,omitempty"`
	// DenyOut names addresses and CIDR blocks that are refused.
	DenyOut []string `json:"denyOut,omitempty"`
	// AllowInternet false is the same as DenyOut 0.0.0.0/0 and ::/0; nil is true.
	AllowInternet *bool `json:"-"`
	// HTTPSPorts are ports beside 443 on which domains are read from the TLS SNI.
	HTTPSPorts []int `json:"httpsPorts,omitempty"`
	// Transform holds headers that are set on requests to a host.
	Transform map[string][]HeaderRule `json:"rules,omitempty"`
	// EgressProxy is a SOCKS5 server that all connections go through; nil is none.
	EgressProxy *Proxy `json:"egressProxy,omitempty"`
}

// HeaderRule is one entry of Rules.Transform.
type HeaderRule struct {
	Transform *Transform `json:"transform,omitempty"`
}

// Transform changes a request on its way out.
type Transform struct {
	// Headers replace those of the same name; values are secret.
	Headers map[string]string `json:"headers,omitempty"`
}

// Proxy is a SOCKS5 server (e2b.md 1.2, `egressProxy`).
type Proxy struct {
	// Address is host:port.
	Address  string `json:"address"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
}

// InvalidError says which part of the rules cannot be used. Message is what the
// API answers with status 400.
type InvalidError struct{ Message string }

func (e *InvalidError) Error() string { return e.Message }

func invalid(format string, args ...any) error {
	return &InvalidError{Message: fmt.Sprintf(format, args...)}
}

// ParseRules reads the `network` object of a create or update request (absent,
// empty and null are no rules) together with allow_internet_access, and
// validates the result. Fields that are not about outgoing traffic are left
// alone. Errors are *InvalidError.
func ParseRules(network json.RawMessage, allowInternet *bool) (Rules, error) {
	r := Rules{}
	if len(network) > 0 {
		if err := json.Unmarshal(network, &r); err != nil {
			return Rules{}, invalid("network: %s", jsonFault(err))
		}
	}
	r.AllowInternet = allowInternet
	return r, r.Validate()
}

func jsonFault(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Sprintf("%s must not be a %s", wrong.Field, wrong.Value)
	}
	return "not a valid object"
}
