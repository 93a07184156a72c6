package method

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// unfilled refuses null as a value of a map or a list of texts: encoding/json reads
// it as "", which is not what anybody meant.
func unfilled(params reflect.Type, text []byte) error {
	if !bytes.Contains(text, []byte("null")) {
		return nil
	}
	var given map[string]any
	if err := json.Unmarshal(text, &given); err != nil {
		return nil // it was read before
	}
	path := hole(params, given)
	if path == nil {
		return nil
	}
	option, t := parameter(params, strings.Join(path, "."))
	return fault.InvalidArgument("%s%s must be text, not null", option, whose(t, reflect.TypeFor[string]())).On(option)
}

// hole is the path to the first map or list of texts that has null in it.
func hole(t reflect.Type, given any) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := given.(type) {
	case map[string]any:
		if t.Kind() == reflect.Map {
			return within(t, slices.Collect(maps.Values(value)))
		}
		return inside(t, value)
	case []any:
		if t.Kind() == reflect.Slice {
			return within(t, value)
		}
	}
	return nil
}

// inside looks at the fields of a struct, of embedded ones too.
func inside(t reflect.Type, value map[string]any) []string {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		var given any = value
		if f.Anonymous {
			name = f.Name
		} else {
			given = value[name]
		}
		if path := hole(f.Type, given); path != nil {
			return append([]string{name}, path...)
		}
	}
	return nil
}

// within looks at what a map or list holds.
func within(t reflect.Type, values []any) []string {
	for _, value := range values {
		if value == nil && t.Elem().Kind() == reflect.String {
			return []string{}
		}
		if path := hole(t.Elem(), value); path != nil {
			return path
		}
	}
	return nil
}
