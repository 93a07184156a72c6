package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Load reads every case below dir and expands tables and codecs.
func Load(dir string) ([]*Case, error) {
	var all []*Case
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		cases, err := loadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		rel, _ := filepath.Rel(dir, strings.TrimSuffix(path, ".json"))
		for _, c := range cases {
			c.File = filepath.ToSlash(rel)
		}
		all = append(all, cases...)
		return nil
	})
	number(all)
	return all, err
}

// Title names a case: its file and its name, with the codec where there are two.
func (c *Case) Title() string {
	title := c.File + "/" + c.Name
	if c.Codec != "" {
		title += "/" + c.Codec
	}
	return title
}

// number tells apart the cases of a table whose name does not.
func number(all []*Case) {
	seen := map[string]int{}
	for _, c := range all {
		title := c.Title()
		if seen[title]++; seen[title] > 1 {
			c.Name = fmt.Sprintf("%s #%d", c.Name, seen[title])
		}
	}
}

func loadFile(path string) ([]*Case, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var raws []map[string]any
	if err := json.Unmarshal(b, &raws); err != nil {
		return nil, err
	}
	var cases []*Case
	for _, raw := range raws {
		expanded, err := expand(raw)
		if err != nil {
			return nil, fmt.Errorf("%v: %w", raw["name"], err)
		}
		cases = append(cases, expanded...)
	}
	return cases, nil
}

func expand(raw map[string]any) ([]*Case, error) {
	var cases []*Case
	for _, vars := range combinations(raw) {
		raw := substitute(substitute(raw, vars), vars) // a value may have placeholders itself
		c, err := strict(raw)
		if err != nil {
			return nil, err
		}
		c.raw = raw
		cases = append(cases, c.variants()...)
	}
	return cases, nil
}

func strict(raw any) (*Case, error) {
	b, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	var c Case
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return &c, d.Decode(&c)
}

// combinations are the records of each, times every combination of matrix.
// Values of a matrix that are objects add all their fields.
func combinations(raw map[string]any) []Vars {
	all := []Vars{{}}
	if each, ok := raw["each"].([]any); ok {
		all = nil
		for _, record := range each {
			all = append(all, Vars(record.(map[string]any)))
		}
	}
	matrix, _ := raw["matrix"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(matrix)) {
		var more []Vars
		for _, vars := range all {
			for _, value := range values(matrix[name]) {
				more = append(more, vars.with(name, value))
			}
		}
		all = more
	}
	return all
}

// values are a list, or {"$range": [from, to]}, both included.
func values(of any) []any {
	if list, ok := of.([]any); ok {
		return list
	}
	var all []any
	ends := of.(map[string]any)["$range"].([]any)
	for n := ends[0].(float64); n <= ends[1].(float64); n++ {
		all = append(all, n)
	}
	return all
}

func (v Vars) with(name string, value any) Vars {
	w := maps.Clone(v)
	w[name] = value
	if fields, ok := value.(map[string]any); ok {
		maps.Copy(w, fields)
	}
	return w
}

// variants are one case a codec.
func (c *Case) variants() []*Case {
	codecs := c.Codecs
	if codecs == nil && c.speaksRPC() {
		codecs = []string{"proto", "json"}
	}
	if codecs == nil {
		return []*Case{c}
	}
	var all []*Case
	for _, codec := range codecs {
		v := *c
		v.Codec = codec
		all = append(all, &v)
	}
	return all
}

// Timed tells whether time matters to a case, with a driver: a browser needs time
// to hand on what came before a connection ends.
func (c *Case) Timed(d Driver) bool {
	page, ok := d.(inPage)
	return mentions(c.raw, timed) || (ok && page.InPage() && mentions(c.raw, cut))
}

// cut is what ends a connection inside an answer.
var cut = regexp.MustCompile(`^(fin|rst|cut_after|then)$`)

// timed is what makes a case depend on the speed of the machine.
var timed = regexp.MustCompile(`^(max_ms|min_ms|sleep_ms|delay_ms|pause_us|cancel_after_ms|hang|.*timeout_ms)$`)

func mentions(node any, name *regexp.Regexp) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, func(v any) bool { return mentions(v, name) })
	case map[string]any:
		for k, v := range n {
			if name.MatchString(k) || mentions(v, name) {
				return true
			}
		}
	}
	return false
}

func (c *Case) speaksRPC() bool {
	return slices.ContainsFunc(c.Peer, func(r Rule) bool { return r.Message != nil || r.RPCError != nil || r.Stream != nil })
}
