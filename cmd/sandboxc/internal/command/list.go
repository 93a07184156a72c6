package command

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-sandbox/agent-sandbox/cmd/sandboxc/internal/output"
	"github.com/agent-sandbox/agent-sandbox/core"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// List is `sandboxc list`.
type List struct {
	Metadata []string `sep:"none" placeholder:"K=V" help:"Only those with this metadata."`
	State    []string `enum:"running,paused" placeholder:"running|paused" help:"Only those in this state."`
	Template string   `placeholder:"NAME" help:"Only those of this template."`
	Limit    int      `placeholder:"N" help:"At most so many. Default: all."`
}

// Run lists them, newest first.
func (l *List) Run(a *App) error {
	metadata, err := parseMetadata(l.Metadata)
	if err != nil {
		return err
	}
	return a.with(func(client *native.Client) error {
		pages, err := client.List(core.ListOptions{Metadata: metadata, State: l.State, Template: l.Template})
		if err != nil {
			return err
		}
		all := []core.Info{}
		for pages.HasNext() && (l.Limit <= 0 || len(all) < l.Limit) {
			items, err := pages.NextItems(a.ctx)
			if err != nil {
				return err
			}
			all = append(all, items...)
		}
		if l.Limit > 0 && len(all) > l.Limit {
			all = all[:l.Limit]
		}
		if a.Quiet && !a.JSON {
			return ids(a.Out, all)
		}
		return a.Table(all, []string{"ID", "TEMPLATE", "STATE", "STARTED", "ENDS"}, rows(all))
	})
}

// ids is a list for another command's arguments.
func ids(w io.Writer, all []core.Info) error {
	for _, i := range all {
		if _, err := fmt.Fprintln(w, output.Clean(i.SandboxID)); err != nil {
			return err
		}
	}
	return nil
}

func rows(all []core.Info) [][]string {
	var rows [][]string
	for _, i := range all {
		rows = append(rows, []string{i.SandboxID, templateOf(&i), i.State, clock(i.StartedAt), ends(&i)})
	}
	return rows
}

func templateOf(i *core.Info) string {
	if i.Name != "" {
		return i.Name
	}
	return i.TemplateID
}

// never is the end of a sandbox without one.
const never = "never"

func ends(i *core.Info) string {
	if i.EndAt.IsZero() {
		return never
	}
	return clock(i.EndAt)
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// Info is `sandboxc info`.
type Info struct {
	ID string `arg:"" help:"The sandbox."`
}

// Run describes it.
func (i *Info) Run(a *App) error {
	return a.with(func(client *native.Client) error {
		info, err := client.Info(a.ctx, i.ID)
		if err != nil {
			return err
		}
		return a.Value(info, func(w io.Writer) error { return describe(w, info) })
	})
}

func describe(w io.Writer, i *core.Info) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, value string) {
		if value != "" {
			_, _ = fmt.Fprintf(t, "%s\t%s\n", name, output.Clean(value))
		}
	}
	line("id", i.SandboxID)
	line("template", templateOf(i))
	line("state", i.State)
	line("isolation", i.Isolation)
	line("started", clock(i.StartedAt))
	line("ends", ends(i))
	line("at its end", i.OnTimeout)
	line("processors", strconv.FormatFloat(i.CPUCount, 'g', -1, 64))
	line("memory", strconv.Itoa(i.MemoryMB)+" MB")
	line("disk", strconv.Itoa(i.DiskSizeMB)+" MB")
	line("envd", i.EnvdVersion)
	for _, k := range sortedKeys(i.Metadata) {
		line("metadata", k+"="+i.Metadata[k])
	}
	for _, l := range i.Limits {
		line("limit "+l.Name, amount(l.Name, l.Value)+", "+enforcement(l.Enforced, l.Why))
	}
	return t.Flush()
}

// cpuPeriod is what a CPU limit counts in: microseconds of each 100 ms.
const cpuPeriod = 100_000

// amount is a limit for people.
func amount(name, value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err != nil:
		return value
	case name == "memory" || name == "disk":
		return size(n)
	case name == "cpu":
		return fmt.Sprintf("%g processors", float64(n)/cpuPeriod)
	}
	return value
}

func enforcement(enforced bool, why string) string {
	if enforced {
		return "enforced"
	}
	return strings.TrimSuffix("not enforced: "+why, ": ")
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Metrics is `sandboxc metrics`.
type Metrics struct {
	ID    string   `arg:"" help:"The sandbox."`
	Since *float64 `placeholder:"SECONDS" help:"Only samples of the last so many seconds."`
}

// Run shows the samples.
func (m *Metrics) Run(a *App) error {
	since, err := seconds("--since", m.Since)
	if err != nil {
		return err
	}
	var start time.Time
	if since != nil {
		start = time.Now().Add(-*since)
	}
	return a.with(func(client *native.Client) error {
		samples, err := client.Metrics(a.ctx, m.ID, start, time.Time{})
		if err != nil {
			return err
		}
		if samples == nil {
			samples = []core.Metric{}
		}
		var rows [][]string
		for _, s := range samples {
			rows = append(rows, []string{
				clock(s.Timestamp), fmt.Sprintf("%.1f %% of %g", s.CPUUsedPct, s.CPUCount), share(s.MemUsed, s.MemTotal), share(s.DiskUsed, s.DiskTotal),
			})
		}
		return a.Table(samples, []string{"TIME", "CPU", "MEMORY", "DISK"}, rows)
	})
}

func share(used, total int64) string {
	return fmt.Sprintf("%s of %s", size(used), size(total))
}

// size is a number of bytes for people.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, letters := float64(n)/unit, "KMGTPE"
	for value >= unit && len(letters) > 1 {
		value, letters = value/unit, letters[1:]
	}
	return fmt.Sprintf("%.1f %ciB", value, letters[0])
}
