// Package build tells which build of sandboxc this is.
package build

import (
	"runtime/debug"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// packaged is the version of the package that this program is shipped in, set
// when it is linked (scripts/build-sandboxc); "" = it was built otherwise.
var packaged string

// Version is what `sandboxc version` prints: that of its package, the module's
// where the Go toolchain knows a released one, else the SDK's with a mark.
func Version() string {
	if packaged != "" {
		return packaged
	}
	if v := moduleVersion(); released(v) {
		return strings.TrimPrefix(v, "v")
	}
	return core.Version + "-dev"
}

// ID names a development build by its content, so that each keeps its own local
// server; "" for a released build, whose servers all serve each other.
func ID() string {
	if packaged != "" || released(moduleVersion()) {
		return ""
	}
	return contentID()
}

func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return info.Main.Version
}

// released: neither "(devel)", nor changed since a commit ("+dirty"), nor a
// version made up from a commit, which ends in twelve hexadecimal digits.
func released(version string) bool {
	if !strings.HasPrefix(version, "v") || strings.Contains(version, "+") {
		return false
	}
	last := version[strings.LastIndexByte(version, '-')+1:]
	return last == version || len(last) != commitDigits || strings.Trim(last, "0123456789abcdef") != ""
}

// commitDigits is how much of a commit Go puts into a pseudo-version.
const commitDigits = 12
