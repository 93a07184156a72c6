package runner

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"slices"
	"time"
)

func (r *running) checkRequests() []string {
	want := r.c.Requests
	if want == nil {
		want = &Requests{}
	}
	var all []string
	for _, form := range want.Aborted {
		if !r.p.until(2*time.Second, func() bool {
			return slices.ContainsFunc(r.p.seen, func(q *Request) bool { return q.is(form) && q.Aborted })
		}) {
			all = append(all, fmt.Sprintf("the client did not hang up on %s", form))
		}
	}
	r.awaitRequests(want)
	seen := r.p.Requests()
	for _, q := range seen {
		if !q.Matched && !want.Other {
			all = append(all, "no rule answers "+q.form()+" at "+q.At)
		}
		if slices.ContainsFunc(want.Unseen, q.is) {
			all = append(all, "there should be no request "+q.form())
		}
	}
	if want.None && len(seen) > 0 {
		all = append(all, fmt.Sprintf("%d requests were made", len(seen)))
	}
	if want.All != nil && !slices.Equal(want.All, forms(seen)) {
		all = append(all, fmt.Sprintf("want the requests %q, got %q", want.All, forms(seen)))
	}
	for i := range want.Seen {
		all = append(all, want.Seen[i].check(seen)...)
	}
	return all
}

// awaitRequests gives requests time that come after a call has returned: a cancelled
// caller is settled at once, and what it has made is cleaned up behind it.
func (r *running) awaitRequests(want *Requests) {
	r.p.until(2*time.Second, func() bool {
		seen := slices.DeleteFunc(slices.Clone(r.p.seen), func(q *Request) bool { return q.Refused })
		return len(seen) >= len(want.All) && !slices.ContainsFunc(want.Seen, func(m RequestMatch) bool { return len(m.check(seen)) > 0 })
	})
}

func forms(seen []*Request) []string {
	all := []string{}
	for _, q := range seen {
		all = append(all, q.form())
	}
	return all
}

func (m *RequestMatch) check(seen []*Request) []string {
	matching, why := 0, []string(nil)
	for _, q := range seen {
		if !q.is(m.On) || (m.At != "" && m.At != q.At) {
			continue
		}
		if problems := m.differ(q); len(problems) > 0 {
			why = append(why, problems...)
			continue
		}
		matching++
	}
	if m.Times != nil && matching != *m.Times {
		return append([]string{fmt.Sprintf("%d requests are like %s, want %d", matching, m.On, *m.Times)}, why...)
	}
	if m.Times == nil && matching == 0 {
		return append([]string{fmt.Sprintf("no request is like %s (of %q)", m.On, forms(seen))}, why...)
	}
	return nil
}

func (m *RequestMatch) differ(q *Request) []string {
	var all []string
	if m.Target != nil && *m.Target != q.Target {
		all = append(all, fmt.Sprintf("target: want %q, got %q", *m.Target, q.Target))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		all = append(all, matchHeader(q.Header, name, m.Headers[name])...)
	}
	if m.Whole {
		all = append(all, m.extra(q)...)
	}
	if m.JSON != nil {
		var got any
		if err := json.Unmarshal(q.Body, &got); err != nil {
			all = append(all, "the body is no JSON")
		} else {
			all = append(all, differ("body", m.JSON, got, true)...)
		}
	}
	if got := q.unpacked(); m.Body != nil && !bytes.Equal(m.Body.b, got) {
		all = append(all, fmt.Sprintf("body: want %d bytes, got %d: %.80q", len(m.Body.b), len(got), got))
	}
	if m.Message != nil || m.Sent != nil {
		all = append(all, m.differMessages(q)...)
	}
	if m.Form != nil {
		all = append(all, m.differForm(q)...)
	}
	return all
}

func (m *RequestMatch) differMessages(q *Request) []string {
	got, err := q.messages()
	if err != nil {
		return []string{err.Error()}
	}
	want := m.Sent
	if want == nil {
		want = []any{m.Message}
	}
	return differ("messages", want, got, true)
}

func (m *RequestMatch) differForm(q *Request) []string {
	parts, err := q.parts()
	if err != nil {
		return []string{err.Error()}
	}
	return differ("form", m.Form, parts, true)
}

// parts are those of a multipart body.
func (r *Request) parts() ([]any, error) {
	_, params, err := mime.ParseMediaType(r.Header.Get("content-type"))
	if err != nil {
		return nil, err
	}
	parts := []any{}
	for in := multipart.NewReader(bytes.NewReader(r.unpacked()), params["boundary"]); ; {
		p, err := in.NextRawPart()
		if err != nil {
			return parts, nil //nolint:nilerr // the end, or a body that is none: the parts tell
		}
		b, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		_, d, _ := mime.ParseMediaType(p.Header.Get("content-disposition"))
		parts = append(parts, map[string]any{"name": d["name"], "filename": d["filename"], "base64": base64.StdEncoding.EncodeToString(b)})
	}
}

// unpacked is the body without its compression; nothing where that is broken.
func (r *Request) unpacked() []byte {
	if r.Header.Get("content-encoding") != "gzip" {
		return r.Body
	}
	z, err := gzip.NewReader(bytes.NewReader(r.Body))
	if err != nil {
		return nil
	}
	b, err := io.ReadAll(z)
	if err != nil {
		return nil
	}
	return b
}
