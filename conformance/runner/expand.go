package runner

import (
	"encoding/json"
	"maps"
	"regexp"
)

// A string that is one placeholder becomes its value, of whatever type; inside
// a longer string the value's text is put in. Unknown names stay: the runner
// fills in the addresses of the peer later.
var placeholder = regexp.MustCompile(`\$\{([a-z0-9_]+)\}`)

func substitute(node any, vars Vars) any {
	switch n := node.(type) {
	case string:
		return substituteString(n, vars)
	case []any:
		out := make([]any, 0, len(n))
		for _, v := range n {
			out = append(out, substitute(v, vars))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(n))
		for k, v := range n {
			if k == "each" || k == "matrix" {
				continue
			}
			name, ok := substituteString(k, vars).(string)
			if !ok {
				name = k
			}
			value := substitute(v, vars)
			if fields, ok := value.(map[string]any); ok && k == "$merge" {
				maps.Copy(out, substitute(fields, vars).(map[string]any))
				continue
			}
			if m, ok := value.(map[string]any); ok && m["$unset"] == true {
				continue
			}
			out[name] = value
		}
		return out
	}
	return node
}

func substituteString(s string, vars Vars) any {
	if m := placeholder.FindStringSubmatch(s); m != nil && m[0] == s {
		if v, ok := vars[m[1]]; ok {
			return v
		}
	}
	return placeholder.ReplaceAllStringFunc(s, func(found string) string {
		v, ok := vars[found[2:len(found)-1]]
		if !ok {
			return found
		}
		if text, ok := v.(string); ok {
			return text
		}
		b, _ := json.Marshal(v)
		return string(b)
	})
}
