package syscalls

import (
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
)

// setID are the bits of a mode that make a program run as the file's owner.
const setID = 0o6000

// modeArgument tells which argument of a call is the mode of a file.
func modeArgument() map[string]uint32 {
	return map[string]uint32{
		"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2,
		"creat": 1, "open": 2, "openat": 3, "mknod": 1, "mknodat": 2,
	}
}

// WithoutSetID is the profile for a sandbox that writes to the host's own
// directories: its files belong to the owner of these, and a set-user-ID program
// among them would be a way to that account for everybody on the host.
func (p *Profile) WithoutSetID() *Profile {
	q := *p
	modes := modeArgument()
	q.Allow, q.AllowIf, q.NotImplemented = nil, slices.Clone(p.AllowIf), slices.Clone(p.NotImplemented)
	for _, name := range p.Allow {
		arg, hasMode := modes[name]
		switch {
		case name == "openat2":
			// Its mode is in memory, where a filter cannot look; callers fall back.
			q.NotImplemented = append(q.NotImplemented, name)
		case hasMode:
			q.AllowIf = append(q.AllowIf, Conditional{
				Name: name, Why: "set-user-ID files on the host",
				Any: [][]Test{{{Arg: arg, Op: seccomp.BitsNotSet, Value: setID}}},
			})
		default:
			q.Allow = append(q.Allow, name)
		}
	}
	return &q
}
