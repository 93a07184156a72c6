package output

import (
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// flag is an option as it is written on a command line. What has no flag is set
// by a variable.
func flag(option fault.Option) string {
	switch option {
	case "api_key", "api_url", "sandbox_url", "domain":
		return "E2B_" + strings.ToUpper(string(option))
	case "region", "min_isolation", "retries":
		return "SANDBOX_" + strings.ToUpper(string(option))
	case "request_timeout_ms":
		return "SANDBOX_HTTP_TIMEOUT"
	case "idle_timeout_ms": // nothing sets it here
		return "the idle timeout"
	case "sandbox_id":
		return "ID"
	case "command", "argv", "path", "source", "destination", "port", "handle", "signal":
		return string(option)
	case "envs":
		return "-e"
	case "cwd":
		return "-w"
	case "user":
		return "-u"
	case "allow_internet_access":
		return "--internet"
	}
	name, inside, nested := strings.Cut(strings.TrimSuffix(string(option), "_ms"), ".")
	if name == "mounts" {
		name = "mount"
	}
	if nested {
		return "--" + dashed(name) + " " + inside
	}
	return "--" + dashed(name)
}

// shownFlag is "" where no option is concerned.
func shownFlag(option fault.Option) string {
	if option == "" {
		return ""
	}
	return flag(option)
}

func dashed(s string) string { return strings.ReplaceAll(s, "_", "-") }
