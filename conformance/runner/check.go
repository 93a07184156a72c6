package runner

import (
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
	"time"
)

// check compares everything with what the case asks for.
func (r *running) check() []string {
	var all []string
	for i, o := range r.outcomes {
		call := &r.c.Calls[i]
		if o == nil {
			all = append(all, fmt.Sprintf("call %d (%s) was not made", i, call.Call))
			continue
		}
		for _, problem := range o.check(call) {
			all = append(all, fmt.Sprintf("call %d (%s): %s", i, call.Call, problem))
		}
	}
	all = append(all, r.checkRequests()...)
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if r.p.fault != nil {
		all = append(all, "peer: "+r.p.fault.Error())
	}
	return all
}

func (o *outcome) check(call *Call) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fault != nil {
		return []string{o.fault.Error()}
	}
	all := o.checkEnd(call)
	if call.Result != nil && o.failure == nil {
		all = append(all, match(call.Result, o.result, false)...)
	}
	if call.Events != nil {
		all = append(all, differ("events", call.Events, nonNil(o.events), false)...)
	}
	if call.Joined != nil {
		all = append(all, match(call.Joined, o.joined(), false)...)
	}
	if call.MaxMS > 0 && o.took > slow(call.MaxMS) {
		all = append(all, fmt.Sprintf("took %s, more than %d ms", o.took, call.MaxMS))
	}
	if o.took < time.Duration(call.MinMS)*time.Millisecond {
		all = append(all, fmt.Sprintf("took %s, less than %d ms", o.took, call.MinMS))
	}
	return all
}

// joined puts the values of each kind together; bytes stay base64.
func (o *outcome) joined() map[string]any {
	texts := map[string]string{}
	for _, e := range o.events {
		kind, value := e.([]any)[0].(string), e.([]any)[1]
		text, _ := value.(string)
		if !strings.HasSuffix(kind, "_text") {
			raw, _ := base64.StdEncoding.DecodeString(text)
			text = string(raw)
		}
		texts[kind] += text
	}
	all := map[string]any{}
	for kind, text := range texts {
		if !strings.HasSuffix(kind, "_text") {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		all[kind] = text
	}
	return all
}

func nonNil(list []any) []any {
	if list == nil {
		return []any{}
	}
	return list
}

func (o *outcome) checkEnd(call *Call) []string {
	f := o.failure
	switch {
	case f == nil && (call.Error != nil || call.Fails):
		return []string{fmt.Sprintf("want an error %s, got result %s", show(call.Error), show(o.result))}
	case f == nil:
		return nil
	case call.Error == nil && !call.Fails && !call.Any:
		return append(f.check(call), "failed: "+strings.Join(f.Texts[:min(1, len(f.Texts))], ""))
	case call.Error == nil:
		return f.check(call)
	}
	got, err := generic(f)
	if err != nil {
		return []string{err.Error()}
	}
	all := f.check(call)
	for _, p := range match(spelledAlike(call.Error), spelledAlike(got), false) {
		all = append(all, "error"+p+"; it is "+f.Texts[0])
	}
	return all
}

// spelledAlike makes one spelling of the option of an error: timeout_ms is
// timeoutMs, timeout and Timeout elsewhere.
func spelledAlike(failure any) any {
	m, ok := failure.(map[string]any)
	option, named := m["option"].(string)
	if !ok || !named {
		return failure
	}
	m = maps.Clone(m)
	m["option"] = strings.TrimSuffix(strings.ReplaceAll(strings.ToLower(option), "_", ""), "ms")
	return m
}

// check holds for every error: it has a code and words, and shows no secret.
func (f *Failure) check(call *Call) []string {
	var all []string
	if f.Code == "" || f.Message == "" {
		all = append(all, fmt.Sprintf("an error without code or message: %q", f.Texts))
	}
	if len(f.Message) > 1000 {
		all = append(all, fmt.Sprintf("a message of %d bytes", len(f.Message)))
	}
	for _, text := range f.Texts {
		if strings.Contains(strings.ToLower(text), secret) {
			all = append(all, "a secret shows in "+text)
		}
		for _, not := range call.Texts.HasNot {
			if strings.Contains(text, not) {
				all = append(all, fmt.Sprintf("%q shows in %q", not, text))
			}
		}
	}
	if call.Texts.Option && (f.Option == "" || !strings.Contains(f.Message, f.Option)) {
		all = append(all, fmt.Sprintf("the option %q is not in %q", f.Option, f.Message))
	}
	for _, has := range call.Texts.Has {
		if !strings.Contains(f.Message+" "+f.Suggestion, has) {
			all = append(all, fmt.Sprintf("%q is not in %q", has, f.Message+" "+f.Suggestion))
		}
	}
	return all
}
