package method

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// unfit says in the caller's terms why a JSON text is no value of a type: which
// parameter, and what it must be.
func unfit(params reflect.Type, err error) error {
	var kind *json.UnmarshalTypeError
	if !errors.As(err, &kind) || kind.Field == "" {
		return fault.InvalidArgument("the parameters cannot be read").Because(err)
	}
	option, t := parameter(params, kind.Field)
	return fault.InvalidArgument("%s%s must be %s, not %s", option, whose(t, kind.Type), wanted(kind.Type), given(kind.Value))
}

// parameter follows the path of encoding/json, which names embedded structs too;
// callers do not know them. Settings are known without what holds them.
func parameter(t reflect.Type, path string) (fault.Option, reflect.Type) {
	var names []string
	for name := range strings.SplitSeq(path, ".") {
		t = element(t)
		f, ok := field(t, name)
		if !ok {
			break
		}
		if t = f.Type; !f.Anonymous && !(len(names) == 0 && t == reflect.TypeFor[Arguments]()) {
			names = append(names, name)
		}
	}
	return fault.Option(strings.Join(names, ".")), t
}

// element is what a list, a map or an optional value holds.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

func field(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name || (f.Anonymous && f.Name == name) {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// whose tells the values of a parameter from the parameter.
func whose(parameter, wrong reflect.Type) string {
	switch {
	case parameter.Kind() == reflect.Map && wrong.Kind() != reflect.Map:
		return ": values"
	case parameter.Kind() == reflect.Slice && wrong.Kind() != reflect.Slice:
		return ": each"
	}
	return ""
}

// wanted names a type in words of every language.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Uint32:
		return "a whole number from 0 up"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

// given names what encoding/json found; of a number that does not fit it says
// which.
func given(found string) string {
	switch found {
	case "string":
		return "text"
	case "bool":
		return "true or false"
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "number":
		return "a number"
	}
	return strings.TrimPrefix(found, "number ")
}
