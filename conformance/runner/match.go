package runner

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// match compares got with want and says what differs. Objects in want are
// subsets unless exact; lists have the same length. An object with one field
// that begins with $ is a matcher:
// $any, $absent, $re, $has, $len, $bytes (got is base64), $not, $max, $min, $exact, $list.
func match(want, got any, exact bool) []string { return differ("", want, got, exact) }

func differ(at string, want, got any, exact bool) []string {
	if name, arg, ok := matcher(want); ok {
		return special(at, name, arg, got)
	}
	switch w := want.(type) {
	case map[string]any:
		return differObject(at, w, got, exact)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))}
		}
		var all []string
		for i := range w {
			all = append(all, differ(fmt.Sprintf("%s[%d]", at, i), w[i], g[i], exact)...)
		}
		return all
	case float64:
		if g, ok := got.(float64); ok && math.Abs(g-w) < 1e-9 {
			return nil
		}
	default:
		if reflect.DeepEqual(want, got) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))}
}

func differObject(at string, want map[string]any, got any, exact bool) []string {
	g, ok := got.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: want %s, got %s", at, show(want), show(got))}
	}
	var all []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		name, _, special := matcher(want[k])
		v, there := g[k]
		if !there && (!special || name != "$absent") {
			all = append(all, fmt.Sprintf("%s.%s: want %s, got nothing", at, k, show(want[k])))
			continue
		}
		if there {
			all = append(all, differ(at+"."+k, want[k], v, exact)...)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(g)) {
		if _, known := want[k]; exact && !known {
			all = append(all, fmt.Sprintf("%s.%s: want nothing, got %s", at, k, show(g[k])))
		}
	}
	return all
}

func matcher(want any) (name string, arg any, ok bool) {
	m, isMap := want.(map[string]any)
	if !isMap || len(m) != 1 {
		return "", nil, false
	}
	for name, arg = range m {
		return name, arg, strings.HasPrefix(name, "$")
	}
	return "", nil, false
}

func special(at, name string, arg, got any) []string {
	ok := false
	switch text, _ := got.(string); name {
	case "$any":
		ok = true
	case "$absent":
		ok = false
	case "$re":
		ok = regexp.MustCompile(arg.(string)).MatchString(text)
	case "$has":
		ok = strings.Contains(text, arg.(string))
	case "$len":
		ok = length(got) == int(arg.(float64))
	case "$bytes":
		ok = sameBytes(arg, text)
	case "$not":
		ok = len(differ(at, arg, got, false)) > 0
	case "$max":
		n, isNumber := got.(float64)
		ok = isNumber && n <= arg.(float64)
	case "$min":
		n, isNumber := got.(float64)
		ok = isNumber && n >= arg.(float64)
	case "$exact":
		return differ(at, arg, got, true)
	default:
		return []string{at + ": unknown matcher " + name}
	}
	if ok {
		return nil
	}
	return []string{fmt.Sprintf("%s: want %s %s, got %s", at, name, show(arg), show(got))}
}

func length(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return -1
}

func sameBytes(spec any, b64 string) bool {
	raw, err := json.Marshal(spec)
	if err != nil {
		return false
	}
	var want Bytes
	got, err := base64.StdEncoding.DecodeString(b64)
	return err == nil && json.Unmarshal(raw, &want) == nil && bytes.Equal(want.b, got)
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(b) > 400 {
		return string(b[:400]) + "…"
	}
	return string(b)
}

// generic is v as JSON has it.
func generic(v any) (any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(b, &out)
}

// matchHeader compares one header; want nil is absence.
func matchHeader(h http.Header, name string, want any) []string {
	values := h.Values(name)
	if want == nil {
		if len(values) > 0 {
			return []string{fmt.Sprintf("header %s: want none, got %q", name, values)}
		}
		return nil
	}
	if len(values) == 0 {
		return []string{fmt.Sprintf("header %s: want %s, got none", name, show(want))}
	}
	return differ("header "+name, want, strings.Join(values, ", "), true)
}
