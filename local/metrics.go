//go:build linux

package local

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/local/api"
	"github.com/agent-sandbox/agent-sandbox/local/fleet"
)

// maxMetricIDs bounds the query for the metrics of many (e2b.md 1.2).
const maxMetricIDs = 100

func (s *Server) metrics(w http.ResponseWriter, r *http.Request, sb *sandbox) error {
	q := r.URL.Query()
	start, err := unixTime(q, "start")
	if err != nil {
		return err
	}
	end, err := unixTime(q, "end")
	if err != nil {
		return err
	}
	metrics := []api.Metric{}
	for _, sample := range sb.Samples() {
		at := sample.Time.Unix()
		if (start == nil || at >= *start) && (end == nil || at <= *end) {
			metrics = append(metrics, sb.metric(sample))
		}
	}
	api.WriteJSON(w, http.StatusOK, metrics)
	return nil
}

func unixTime(q url.Values, name string) (*int64, error) {
	text := q.Get(name)
	if text == "" {
		return nil, nil
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 {
		return nil, api.Invalid("%s must be a Unix time in seconds", name)
	}
	return &seconds, nil
}

func (s *Server) metricsOfMany(w http.ResponseWriter, r *http.Request) error {
	ids := strings.Split(strings.Join(r.URL.Query()["sandbox_ids"], ","), ",")
	if len(ids) > maxMetricIDs {
		return api.Invalid("sandbox_ids names more than %d sandboxes", maxMetricIDs)
	}
	latest := map[string]api.Metric{}
	for _, id := range ids {
		sb := s.members.get(id)
		if sb == nil || !s.shows(r, sb) {
			continue
		}
		if samples := sb.Samples(); len(samples) > 0 {
			latest[id] = sb.metric(samples[len(samples)-1])
		}
	}
	api.WriteJSON(w, http.StatusOK, map[string]any{"sandboxes": latest})
	return nil
}

func (s *sandbox) metric(sample fleet.Sample) api.Metric {
	return api.Metric{
		Timestamp: sample.Time.UTC().Truncate(time.Millisecond), TimestampUnix: sample.Time.Unix(),
		CPUCount: s.size.cpus, CPUUsedPct: sample.CPUPercent,
		MemUsed: sample.Usage.MemUsed, MemTotal: sample.Usage.MemTotal, MemCache: sample.Usage.MemCache,
		DiskUsed: sample.Usage.DiskUsed, DiskTotal: sample.Usage.DiskTotal,
	}
}
