// Package syscalls keeps the list of system calls that a sandbox may use, as
// data with its source, and makes a seccomp program of it.
package syscalls

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

//go:embed default.json
var defaultJSON []byte

// Profile is the content of default.json.
type Profile struct {
	// Source says whose list it is.
	Source string `json:"source"`
	// Allow are allowed with any arguments.
	Allow []string `json:"allow"`
	// AllowOn are allowed on one architecture only, by its name.
	AllowOn map[string][]string `json:"allow_on"`
	// AllowIf are allowed when every test of any one list holds.
	AllowIf []Conditional `json:"allow_if"`
	// Chroot needs a capability that root inside keeps.
	Chroot []string `json:"allow_with_chroot_capability"`
	// NotImplemented answer ENOSYS, so that C libraries fall back.
	NotImplemented []string `json:"not_implemented"`
	// Denied answer EPERM, as everything that is not named: the calls that
	// Docker's profile refuses, for tests and documentation.
	Denied []string `json:"denied"`
}

// Conditional is a call that depends on its arguments.
type Conditional struct {
	Name string   `json:"name"`
	Any  [][]Test `json:"any"`
	Why  string   `json:"why"`
}

// Test compares one argument, counted from 0.
type Test struct {
	Arg   uint32            `json:"arg"`
	Op    seccomp.Operation `json:"op"`
	Value uint64            `json:"value"`
}

// Default reads the built-in profile.
func Default() (*Profile, error) {
	p := new(Profile)
	if err := json.Unmarshal(defaultJSON, p); err != nil {
		return nil, fmt.Errorf("system call profile: %w", err)
	}
	return p, nil
}

// Program assembles the profile for this machine: sock_filter instructions of
// 8 bytes each, in native byte order. What no rule allows answers EPERM; a
// foreign architecture's calls do too.
func (p *Profile) Program() ([]byte, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	policy := seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Names: p.allowed(info), NamesWithCondtions: p.conditions(info), Action: seccomp.ActionAllow},
			{Names: known(info, p.NotImplemented), Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
		},
	}
	insts, err := policy.Assemble()
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	raw, err := bpf.Assemble(insts)
	if err != nil {
		return nil, fmt.Errorf("seccomp: %w", err)
	}
	var b bytes.Buffer
	err = binary.Write(&b, binary.NativeEndian, raw)
	return b.Bytes(), err
}

func (p *Profile) allowed(info *arch.Info) []string {
	names := append([]string{}, p.Allow...)
	names = append(names, p.AllowOn[info.Name]...)
	names = append(names, p.Chroot...)
	return known(info, names)
}

func (p *Profile) conditions(info *arch.Info) []seccomp.NameWithConditions {
	var list []seccomp.NameWithConditions
	for _, c := range p.AllowIf {
		if _, ok := info.SyscallNames[c.Name]; !ok {
			continue
		}
		for _, tests := range c.Any {
			n := seccomp.NameWithConditions{Name: c.Name}
			for _, t := range tests {
				n.Conditions = append(n.Conditions, seccomp.Condition{Argument: t.Arg, Operation: t.Op, Value: t.Value})
			}
			list = append(list, n)
		}
	}
	return list
}

// known keeps the names that the architecture has.
func known(info *arch.Info, names []string) []string {
	var list []string
	for _, n := range names {
		if _, ok := info.SyscallNames[n]; ok {
			list = append(list, n)
		}
	}
	return list
}
