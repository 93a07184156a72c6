package e2b

import (
	"errors"
	"slices"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// option is what the caller calls a field of create's request; "" where it is none
// of ours.
func option(field string) fault.Option {
	switch field {
	case "timeout":
		return "timeout_ms"
	case "metadata", "network":
		return fault.Option(field)
	case "templateID":
		return "template"
	case "envVars":
		return "envs"
	case "autoPause":
		return "on_timeout"
	case "autoPauseMemory":
		return "keep_memory"
	case "autoResume":
		return "auto_resume"
	case "cpuCount":
		return "cpu_count"
	case "memoryMB":
		return "memory_mb"
	case "diskSizeMB":
		return "disk_mb"
	case "hostMounts":
		return "mounts"
	case "network.allowPublicTraffic":
		return "network.allow_public_traffic"
	case "network.maskRequestHost":
		return "network.mask_request_host"
	}
	return ""
}

// named puts the caller's name of a field in place of the wire's.
func named(err error) error {
	var answer *connect.Error
	if e := fault.As(err); e != nil && errors.As(err, &answer) && answer.Field != "" {
		if o := option(answer.Field); o != "" {
			return e.On(o).Say("%s%s", o, strings.TrimPrefix(answer.Message, answer.Field))
		}
	}
	return err
}

// public are templates that every E2B account can use.
var public = []string{"base", "code-interpreter-v1"}

// unknown says which template may have been meant, and where to look.
func (c *control) unknown(err error, template string) error {
	e := fault.As(err)
	if e == nil || e.Code != fault.CodeTemplateNotFound {
		return err
	}
	e.Option = "template"
	answer := &connect.Error{}
	errors.As(err, &answer)
	names, look := public, "check its name, and that it belongs to this API key's team"
	if c.preset.EndlessLife {
		names, look = answer.Known, "sandboxc template list shows those of this machine"
	}
	switch near := nearest(template, names); {
	case near != "":
		return e.Suggest("did you mean '%s'? %s", near, look)
	case len(answer.Known) > 0:
		return e.Suggest("there are %s; %s", strings.Join(answer.Known, ", "), look)
	}
	return e.Suggest("%s", look)
}

// nearest is the name that was probably meant: it begins with what was given, or
// differs in few letters. "" when there is none.
func nearest(given string, names []string) string {
	given = strings.ToLower(given)
	best, least := "", 1+min(3, len(given)/2)
	for _, name := range names {
		d := distance(given, strings.ToLower(name))
		if d > 0 && len(given) >= 3 && strings.HasPrefix(name, given) {
			d = 1
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is how many letters must be added, dropped or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			change := before[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, before[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
