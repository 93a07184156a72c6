package egress

import (
	"fmt"
	"maps"
	"slices"
)

const hidden = "***"

// Redacted is a copy that may be shown: the proxy's password and the values of
// headers are "***".
func (r Rules) Redacted() Rules {
	if r.EgressProxy != nil {
		p := *r.EgressProxy
		if p.Password != "" {
			p.Password = hidden
		}
		r.EgressProxy = &p
	}
	r.Transform = maps.Clone(r.Transform)
	for domain, rules := range r.Transform {
		rules = slices.Clone(rules)
		for i, rule := range rules {
			if rule.Transform != nil {
				rules[i].Transform = rule.Transform.redacted()
			}
		}
		r.Transform[domain] = rules
	}
	return r
}

func (t *Transform) redacted() *Transform {
	shown := &Transform{Headers: maps.Clone(t.Headers)}
	for name := range shown.Headers {
		shown.Headers[name] = hidden
	}
	return shown
}

// Format keeps credentials out of every printed form.
func (p Proxy) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "proxy "+p.Address) }

// Format keeps values out of every printed form.
func (t Transform) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprint(f, slices.Sorted(maps.Keys(t.Headers)))
}
