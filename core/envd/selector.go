package envd

import "github.com/agent-sandbox/agent-sandbox/core/plane"

// selector is ProcessSelector: oneof pid 1, tag 2.
func appendSelector(b []byte, s plane.Selector) []byte {
	if s.PID != 0 {
		return appendVarint(b, 1, uint64(s.PID))
	}
	return appendText(b, 2, s.Tag)
}

func jsonSelector(s plane.Selector) map[string]any {
	if s.PID != 0 {
		return map[string]any{"pid": s.PID}
	}
	return map[string]any{"tag": s.Tag}
}
