package api

import (
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Bounds of what create takes.
const (
	maxTimeout     = 365 * 24 * time.Hour
	maxPairs       = 4096
	maxPairBytes   = 1 << 20
	maxCPUs        = 1024
	minMemoryMB    = 32
	maxMemoryMB    = 16 << 20
	minDiskMB      = 16
	maxDiskMB      = 64 << 20
	maxMounts      = 64
	maxIdempotency = 255
)

// Check applies every rule of create that needs no knowledge of the machine.
func (n *NewSandbox) Check() error {
	checks := []func() error{n.checkTemplate, n.checkPairs, n.checkLifecycle, n.checkAbsent, n.checkSizes, n.checkMounts, n.checkTraffic}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (n *NewSandbox) checkTemplate() error {
	switch name := strings.TrimSpace(n.TemplateID); {
	case name == "":
		return InvalidField("templateID", " is missing")
	case len(name) > 256 || !printable(name):
		return InvalidField("templateID", " is not a template name")
	}
	return nil
}

func (n *NewSandbox) checkPairs() error {
	if err := checkPairs("envVars", n.EnvVars, checkEnvName); err != nil {
		return err
	}
	return checkPairs("metadata", n.Metadata, checkMetadataKey)
}

func checkPairs(field string, pairs map[string]string, checkKey func(string) error) error {
	if len(pairs) > maxPairs {
		return InvalidField(field, " has more than %d entries", maxPairs)
	}
	size := 0
	for key, value := range pairs {
		if err := checkKey(key); err != nil {
			return err
		}
		if strings.ContainsRune(value, 0) {
			return InvalidField(field, ": the value of %q holds a NUL byte", key)
		}
		size += len(key) + len(value)
	}
	if size > maxPairBytes {
		return InvalidField(field, " is larger than %d bytes", maxPairBytes)
	}
	return nil
}

func checkEnvName(name string) error {
	switch {
	case name == "":
		return InvalidField("envVars", ": a name is empty")
	case strings.Contains(name, "="):
		return InvalidField("envVars", ": the name %q holds an equals sign", name)
	case !printable(name) || strings.ContainsFunc(name, unicode.IsSpace):
		return InvalidField("envVars", ": the name %q holds a blank or a control character", name)
	}
	return nil
}

func checkMetadataKey(key string) error {
	switch {
	case key == "":
		return InvalidField("metadata", ": a key is empty")
	case !printable(key):
		return InvalidField("metadata", ": the key %q holds a control character", key)
	}
	return nil
}

func (n *NewSandbox) checkLifecycle() error {
	filesystemOnly := n.AutoPauseMemory != nil && !*n.AutoPauseMemory
	switch {
	case filesystemOnly && !n.Pauses():
		return InvalidField("autoPauseMemory", ": false needs autoPause: true")
	case filesystemOnly && n.Resumes():
		return InvalidField("autoPauseMemory", ": false cannot be combined with autoResume")
	case n.Resumes() && !n.Pauses():
		return InvalidField("autoResume", " needs autoPause: true")
	case filesystemOnly:
		return Unsupported("always keeps memory when it pauses: leave autoPauseMemory out")
	}
	return nil
}

func (n *NewSandbox) checkAbsent() error {
	if len(n.VolumeMounts) > 0 {
		return Unsupported("has no volumes")
	}
	if n.IAM != nil && len(n.IAM.Tokens) > 0 {
		return Unsupported("mints no identity tokens")
	}
	return nil
}

func (n *NewSandbox) checkSizes() error {
	if c := n.CPUCount; c != nil && (*c < 0.01 || *c > maxCPUs) {
		return InvalidField("cpuCount", " must be from 0.01 to %d", maxCPUs)
	}
	if m := n.MemoryMB; m != nil && (*m < minMemoryMB || *m > maxMemoryMB) {
		return InvalidField("memoryMB", " must be from %d to %d", minMemoryMB, maxMemoryMB)
	}
	if d := n.DiskSizeMB; d != nil && (*d < minDiskMB || *d > maxDiskMB) {
		return InvalidField("diskSizeMB", " must be from %d to %d", minDiskMB, maxDiskMB)
	}
	return nil
}

func (n *NewSandbox) checkMounts() error {
	if len(n.HostMounts) > maxMounts {
		return InvalidField("hostMounts", " has more than %d entries", maxMounts)
	}
	seen := map[string]bool{}
	for i, m := range n.HostMounts {
		if !absolute(m.Source) {
			return InvalidField("hostMounts", "[%d]: source %q must be an absolute path without . or ..", i, m.Source)
		}
		if !absolute(m.Target) || m.Target == "/" {
			return InvalidField("hostMounts", "[%d]: target %q must be an absolute path without . or .., and not /", i, m.Target)
		}
		if reserved(m.Target) {
			return InvalidField("hostMounts", "[%d]: target %q is the sandbox's own", i, m.Target)
		}
		if seen[m.Target] {
			return InvalidField("hostMounts", "[%d]: target %q appears twice", i, m.Target)
		}
		seen[m.Target] = true
	}
	return nil
}

// reserved reports whether a mount at p would cover what makes the sandbox one.
func reserved(p string) bool {
	if p == "/usr" || p == "/etc" {
		return true
	}
	for _, own := range []string{"/proc", "/dev", "/sys", "/run/sandboxc"} {
		if p == own || strings.HasPrefix(p, own+"/") {
			return true
		}
	}
	return false
}

func absolute(p string) bool {
	return path.IsAbs(p) && path.Clean(p) == p && !strings.ContainsRune(p, 0)
}

func (n *NewSandbox) checkTraffic() error {
	if !n.PublicTraffic() && n.Secure != nil && !*n.Secure {
		return InvalidField("network.allowPublicTraffic", ": false needs a secured sandbox")
	}
	if n.Network == nil {
		return nil
	}
	if err := CheckEgress(n.Network.DNSServers, n.Network.EgressProxy); err != nil {
		return err
	}
	if host := n.Network.MaskRequestHost; len(host) > 253 || strings.ContainsFunc(host, notHostRune) {
		return InvalidField("network.maskRequestHost", " is not a host name")
	}
	return nil
}

func notHostRune(r rune) bool { return r <= ' ' || r > '~' || r == '/' || r == '\\' || r == '@' }

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// Lifetime turns a timeout in seconds into a duration. An absent one is
// fallback; 0 is no limit (0) where unlimited says so, else a Fault.
func Lifetime(seconds *int64, fallback time.Duration, unlimited bool) (time.Duration, error) {
	switch {
	case seconds == nil:
		return fallback, nil
	case *seconds < 0:
		return 0, InvalidField("timeout", " must not be negative")
	case *seconds == 0 && !unlimited:
		return 0, InvalidField("timeout", " must be greater than 0")
	case *seconds > int64(maxTimeout/time.Second):
		return 0, InvalidField("timeout", " must be at most %d seconds", int64(maxTimeout/time.Second))
	}
	return time.Duration(*seconds) * time.Second, nil
}

// CheckIdempotencyKey applies E2B's rule for the header Idempotency-Key
// (e2b.md 10).
func CheckIdempotencyKey(key string) error {
	bad := strings.ContainsFunc(key, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
	if bad || key == "" || len(key) > maxIdempotency {
		return Invalid("Idempotency-Key must be 1 to %d lower-case letters, digits or hyphens", maxIdempotency)
	}
	return nil
}

// NotFound is the 404 of a sandbox. fate says what became of it, "" when that
// is not known.
func NotFound(id, fate string) *Fault {
	if fate == "" {
		return Faultf(http.StatusNotFound, "sandbox %q was not found", id)
	}
	return Faultf(http.StatusNotFound, "sandbox %q was not found: %s", id, fate)
}
