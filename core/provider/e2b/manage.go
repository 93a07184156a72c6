package e2b

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/core/provider"
	"github.com/agent-sandbox/agent-sandbox/core/uri"
)

// segment makes an id safe in a path: what a caller passes cannot reach another route.
func segment(id string) string { return uri.Escape(id) }

func (c *control) Kill(ctx context.Context, id string) (bool, error) {
	if c.settings.Debug {
		return true, nil
	}
	_, err := c.rest(ctx, call{method: "DELETE", path: "/sandboxes/" + segment(id), idempotent: true, area: sandboxArea})
	if fault.CodeOf(err) == fault.CodeSandboxNotFound {
		return false, nil
	}
	return err == nil, err
}

func (c *control) Info(ctx context.Context, id string) (*provider.Info, error) {
	var d detail
	if err := c.detail(ctx, id, &d); err != nil {
		return nil, err
	}
	i := d.info(c.Isolation())
	return &i, nil
}

func (c *control) SetTimeout(ctx context.Context, id string, life time.Duration) error {
	if c.settings.Debug {
		return nil
	}
	route := "/sandboxes/"
	if life == 0 && c.preset.EndlessLife {
		route = "/v2/sandboxes/" // E2B's own route takes 0 as "now"
	}
	return c.post(ctx, route+segment(id)+"/timeout", map[string]any{"timeout": *wholeSeconds(&life)}, nil)
}

// longestRefresh is what one keep-alive may ask for (e2b.md 1.2).
const longestRefresh = 3600 * time.Second

func (c *control) Extend(ctx context.Context, id string, life time.Duration) error {
	if life <= longestRefresh {
		return c.post(ctx, "/sandboxes/"+segment(id)+"/refreshes", map[string]any{"duration": *wholeSeconds(&life)}, nil)
	}
	info, err := c.Info(ctx, id)
	if err != nil || info.EndAt.IsZero() || info.EndAt.After(c.host.Now().Add(life)) {
		return err
	}
	return c.SetTimeout(ctx, id, life)
}

func (c *control) Pause(ctx context.Context, id string, memory bool) (bool, error) {
	body := map[string]any{}
	if !memory {
		body["memory"] = false
	}
	err := c.post(ctx, "/sandboxes/"+segment(id)+"/pause", body, nil)
	if e := fault.As(err); e != nil && e.Status == 409 {
		return false, nil
	}
	return err == nil, err
}

func (c *control) Metrics(ctx context.Context, id string, start, end time.Time) ([]provider.Metric, error) {
	if c.settings.Debug {
		return []provider.Metric{}, nil
	}
	var q uri.Query
	if !start.IsZero() {
		q = append(q, [2]string{"start", strconv.FormatInt(start.Unix(), 10)})
	}
	if !end.IsZero() {
		q = append(q, [2]string{"end", strconv.FormatInt(end.Unix(), 10)})
	}
	var samples []metric
	_, err := c.rest(ctx, call{method: "GET", path: "/sandboxes/" + segment(id) + "/metrics", query: q, out: &samples, idempotent: true, area: sandboxArea})
	out := make([]provider.Metric, 0, len(samples))
	for _, m := range samples {
		out = append(out, m.metric())
	}
	return out, err
}

func (c *control) UpdateNetwork(ctx context.Context, id string, n provider.Network) error {
	_, err := c.rest(ctx, call{method: "PUT", path: "/sandboxes/" + segment(id) + "/network", body: network(n), idempotent: true, area: sandboxArea})
	return err
}

func (c *control) List(ctx context.Context, spec provider.ListSpec) (*provider.Page, error) {
	q := listQuery(spec)
	page := &provider.Page{Sandboxes: []provider.Info{}}
	err := c.versioned(ctx,
		func(ctx context.Context) error { return c.list(ctx, "/v2/sandboxes", q, page) },
		func(ctx context.Context) error {
			return c.list(ctx, "/sandboxes", metadataOnly(spec), page)
		})
	return page, err
}

func (c *control) list(ctx context.Context, path string, q uri.Query, page *provider.Page) error {
	var found []detail
	head, err := c.rest(ctx, call{method: "GET", path: path, query: q, out: &found, idempotent: true, area: sandboxArea})
	if err != nil {
		return err
	}
	for i := range found {
		page.Sandboxes = append(page.Sandboxes, found[i].info(c.Isolation()))
	}
	page.NextToken = head.Header.Get("x-next-token")
	return nil
}

func listQuery(s provider.ListSpec) uri.Query {
	q := metadataOnly(s)
	if len(s.State) > 0 {
		q = append(q, [2]string{"state", strings.Join(s.State, ",")})
	}
	if s.Template != "" {
		q = append(q, [2]string{"template", s.Template})
	}
	if !s.StartedAfter.IsZero() {
		q = append(q, [2]string{"startedAfter", s.StartedAfter.UTC().Format(time.RFC3339Nano)})
	}
	if s.Ascending {
		q = append(q, [2]string{"order", "asc"})
	}
	if s.Limit != 0 {
		q = append(q, [2]string{"limit", strconv.Itoa(s.Limit)})
	}
	if s.NextToken != "" {
		q = append(q, [2]string{"nextToken", s.NextToken})
	}
	return q
}

// metadataOnly is all that the older route knows.
func metadataOnly(s provider.ListSpec) uri.Query {
	if len(s.Metadata) == 0 {
		return nil
	}
	return uri.Query{{"metadata", metadataFilter(s.Metadata)}}
}

// metadataFilter is encoded twice here and once more as a query value, as the
// server undoes it (e2b.md 1.2).
func metadataFilter(m map[string]string) string {
	var inner uri.Query
	for k, v := range m {
		inner = append(inner, [2]string{uri.Escape(k), uri.Escape(v)})
	}
	return inner.Encode()
}
