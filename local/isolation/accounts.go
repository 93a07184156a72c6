//go:build linux

package isolation

import (
	"os"
	"strconv"
	"strings"
)

// Ids of accounts that come from the system rather than from a person.
const (
	firstPersonID = 1000
	nobodyID      = 65534
)

// baseAccounts and baseGroups are in every sandbox.
const (
	baseAccounts = "root:x:0:0:root:/root:/bin/bash\n" +
		"user:x:1000:1000:user:/home/user:/bin/bash\n" +
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
	baseGroups = "root:x:0:\nsudo:x:27:user\nuser:x:1000:\nnogroup:x:65534:\n"
)

// accounts writes passwd and group: root, user, and the host's system
// accounts, since packages and files in /usr refer to them. People are not
// among them.
func (b *builder) accounts() {
	b.file("etc/passwd", []byte(baseAccounts+systemLines("/etc/passwd", baseAccounts, func(f []string) string {
		if len(f) != 7 {
			return ""
		}
		return f[0] + ":x:" + f[2] + ":" + f[3] + ":" + f[0] + ":/nonexistent:/usr/sbin/nologin\n"
	})))
	b.file("etc/group", []byte(baseGroups+systemLines("/etc/group", baseGroups, func(f []string) string {
		if len(f) != 4 {
			return ""
		}
		return f[0] + ":x:" + f[2] + ":\n"
	})))
}

// systemLines rewrites the lines of system accounts that base does not have.
func systemLines(path, base string, rewrite func(fields []string) string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var out strings.Builder
	for line := range strings.Lines(string(content)) {
		f := strings.Split(strings.TrimSpace(line), ":")
		if len(f) < 4 {
			continue
		}
		id, err := strconv.Atoi(f[2])
		if err != nil || id >= firstPersonID && id != nobodyID || named(base, f[0], f[2]) {
			continue
		}
		out.WriteString(rewrite(f))
	}
	return out.String()
}

// named tells whether base has the name or the id.
func named(base, name, id string) bool {
	for line := range strings.Lines(base) {
		f := strings.Split(line, ":")
		if f[0] == name || f[2] == id {
			return true
		}
	}
	return false
}
