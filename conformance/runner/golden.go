package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Golden is what one method puts on the wire with all its options: a case whose
// requests are compared whole, headers and all.
type Golden struct {
	Call     string          `json:"call"`
	Params   json.RawMessage `json:"params,omitempty"`
	Before   []any           `json:"before,omitempty"` // calls that it needs
	Peer     json.RawMessage `json:"peer"`
	Requests []RequestMatch  `json:"requests"` // all of them, in order
}

// golden names the file of the golden cases in titles.
const golden = "golden"

// LoadGolden reads the golden files of dir as cases: golden/METHOD.
func LoadGolden(dir string) ([]*Case, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(paths)
	var all []*Case
	for _, path := range paths {
		c, err := loadGolden(path)
		if err != nil {
			return nil, errors.Join(errors.New(path), err)
		}
		all = append(all, c)
	}
	return all, nil
}

func loadGolden(path string) (*Case, error) {
	g, err := readGolden(path)
	if err != nil {
		return nil, err
	}
	requests := map[string]any{"other": false}
	if len(g.Requests) > 0 {
		forms := []string{}
		for i := range g.Requests {
			g.Requests[i].Whole = true
			forms = append(forms, g.Requests[i].On)
		}
		requests["all"], requests["seen"] = forms, g.Requests
	}
	raw, err := generic(map[string]any{
		"name": g.Call, "codecs": []string{"proto"}, "sandbox": map[string]any{}, "peer": g.Peer,
		"calls": append(g.Before, map[string]any{"call": g.Call, "params": g.Params}), "requests": requests,
	})
	if err != nil {
		return nil, err
	}
	cases, err := expand(raw.(map[string]any))
	if err != nil {
		return nil, err
	}
	cases[0].File, cases[0].Codec = golden, ""
	return cases[0], nil
}

func readGolden(path string) (*Golden, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var g Golden
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return nil, err
	}
	if g.Call+".json" != filepath.Base(path) {
		return nil, errors.New("the file's name is not its call's")
	}
	return &g, nil
}

// Record plays a golden file with a driver and writes what it put on the wire
// into the file, for a person to judge.
func Record(d Driver, path, dir string) error {
	g, err := readGolden(path)
	if err != nil {
		return err
	}
	g.Requests = nil
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // a source file
		return err
	}
	c, err := loadGolden(path)
	if err != nil {
		return err
	}
	var seen []*Request
	if problems := runCase(d, c, dir, func(p *Peer) { seen = p.Requests() }); len(problems) > 0 {
		return errors.New(path + ": " + strings.Join(problems, "; "))
	}
	for _, q := range seen {
		m, err := recorded(q)
		if err != nil {
			return err
		}
		g.Requests = append(g.Requests, *m)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644) //nolint:gosec // a source file
}

// recorded describes a request as it was.
func recorded(q *Request) (*RequestMatch, error) {
	m := &RequestMatch{On: q.form(), At: q.At, Target: &q.Target, Headers: map[string]any{}}
	for name := range q.Header {
		if ofHTTP(name) {
			continue
		}
		m.Headers[strings.ToLower(name)] = steady(q.Header.Get(name))
	}
	kind, _, _ := mime.ParseMediaType(q.Header.Get("content-type"))
	switch {
	case len(q.Body) == 0:
	case kind == "multipart/form-data":
		var err error
		m.Form, err = q.parts()
		return m, err
	case codecOf(kind) == "proto":
		messages, err := q.messages()
		if err != nil {
			return nil, err
		}
		if strings.Contains(kind, "connect+") {
			m.Sent = messages
		} else {
			m.Message = messages[0]
		}
	case kind == "application/json":
		return m, json.Unmarshal(q.Body, &m.JSON)
	default:
		m.Body = &Bytes{b: q.Body}
	}
	return m, nil
}

// Headers that differ from one request or version to the next.
var (
	boundary = regexp.MustCompile(`^multipart/form-data; boundary=[-0-9A-Za-z]+$`)
	agent    = regexp.MustCompile(`^agent-sandbox/[0-9]+[.][0-9]+[.][0-9]+[-.0-9A-Za-z]*$`)
)

// steady is a header's value, or what holds for it every time.
func steady(value string) any {
	for _, form := range []*regexp.Regexp{boundary, agent} {
		if form.MatchString(value) {
			return map[string]any{"$re": form.String()}
		}
	}
	return value
}

// ofHTTP tells the headers that the host's HTTP itself decides.
func ofHTTP(name string) bool {
	return slices.Contains([]string{"connection", "content-length", "host", "keep-alive", "te", "transfer-encoding"}, strings.ToLower(name))
}

// extra is what a request has and should not.
func (m *RequestMatch) extra(q *Request) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		lower := strings.ToLower(name)
		_, wanted := m.Headers[lower]
		identity := lower == "accept-encoding" && q.Header.Get(name) == "identity"
		if !wanted && !ofHTTP(name) && !identity && (!m.page || chosen(name)) {
			all = append(all, "a header that is not wanted: "+name+": "+q.Header.Get(name))
		}
	}
	if bodiless := m.JSON == nil && m.Message == nil && m.Sent == nil && m.Body == nil && m.Form == nil; bodiless && len(q.Body) > 0 {
		all = append(all, "there should be no body")
	}
	return all
}
