//go:build linux

package guest

import (
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// sudoPath is where this binary appears as sudo.
const sudoPath = "/usr/bin/sudo"

// writeFiles writes what differs from sandbox to sandbox.
func (p *process1) writeFiles() error {
	if err := makeDirs("new"+runDir, "new/run/e2b", "new/run/lock"); err != nil {
		return err
	}
	files := map[string]string{
		runDir + "/hostname": p.cfg.Hostname + "\n",
		runDir + "/hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n" +
			"127.0.1.1 " + p.cfg.Hostname + "\n",
		runDir + "/resolv.conf":     "",
		"/run/e2b/.E2B_SANDBOX":     "true",
		"/run/e2b/.E2B_SANDBOX_ID":  p.cfg.SandboxID,
		"/run/e2b/.E2B_TEMPLATE_ID": p.cfg.TemplateID,
	}
	for path, content := range files {
		if err := os.WriteFile("new"+path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	if err := p.writeTrust(); err != nil {
		return err
	}
	return p.mountEgress()
}

// writeTrust writes the CA bundle of this sandbox, when it has one of its own.
func (p *process1) writeTrust() error {
	f, ok := p.trees[boot.FDTrust]
	if !ok {
		return nil
	}
	defer f.Close()
	delete(p.trees, boot.FDTrust)
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<20))
	if err != nil {
		return err
	}
	target := filepath.Join("new", p.cfg.CA)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	return os.WriteFile(target, b, 0o644)
}

// mountSudo shows this binary as sudo, read-only: in ordinary mode its owner
// is the one id that the sandbox has.
func (p *process1) mountSudo() error {
	if _, ok := p.trees[boot.FDBinary]; !ok {
		return nil
	}
	target := filepath.Join("new", sudoPath)
	if err := p.trees.attach(boot.FDBinary, target); err != nil {
		return err
	}
	p.self = sudoPath
	return setAttr(target, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
}
