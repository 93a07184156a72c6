//go:build linux

package isolation

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

// copied are the files and directories of the host's /etc that programs
// inside need and that hold no secret. Only what everybody may read is copied.
var copied = []string{
	"/etc/adduser.conf", "/etc/alternatives", "/etc/apt", "/etc/bash.bashrc", "/etc/ca-certificates",
	"/etc/ca-certificates.conf", "/etc/debconf.conf", "/etc/debian_version", "/etc/default/locale",
	"/etc/deluser.conf", "/etc/dpkg", "/etc/emacs", "/etc/fonts", "/etc/gai.conf", "/etc/host.conf", "/etc/inputrc",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/locale.alias", "/etc/locale.gen",
	"/etc/localtime", "/etc/login.defs", "/etc/magic", "/etc/magic.mime", "/etc/mime.types", "/etc/nanorc",
	"/etc/os-release", "/etc/pam.conf", "/etc/pam.d", "/etc/perl", "/etc/pki", "/etc/protocols", "/etc/python3",
	"/etc/rpc", "/etc/services", "/etc/skel", "/etc/ssl", "/etc/terminfo", "/etc/timezone", "/etc/vim",
	"/etc/xattr.conf",
}

// skippedEtc may hold credentials or says something about the host.
var skippedEtc = []string{"/etc/apt/auth.conf", "/etc/apt/auth.conf.d", "/etc/ssl/private"}

// directories of the root, beside the links into /usr.
var directories = []string{
	"boot", "dev", "etc", "home", "media", "mnt", "opt", "proc", "run", "srv", "sys", "usr",
	"var/backups", "var/cache", "var/lib", "var/local", "var/log", "var/mail", "var/opt", "var/spool",
}

// written are the files of /etc that are ours.
var written = map[string]string{
	"etc/shadow":        "root:*:20000:0:99999:7:::\nuser:*:20000:0:99999:7:::\n",
	"etc/gshadow":       "root:*::\nuser:!::\n",
	"etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\nnetworks: files\nprotocols: files\nservices: files\n",
	"etc/fstab":         "",
	"etc/environment":   "",
	"etc/shells":        "/bin/sh\n/bin/bash\n/usr/bin/sh\n/usr/bin/bash\n",
	"etc/machine-id":    "",
	"etc/profile": "export PATH=\"${PATH:-" + Path + "}\"\n" +
		"if [ -n \"$PS1\" ]; then PS1='\\u@\\h:\\w\\$ '; fi\n" +
		"for f in /etc/profile.d/*.sh; do [ -r \"$f\" ] && . \"$f\"; done\nunset f\n",
	"home/user/.bashrc":  "[ -n \"$PS1\" ] && PS1='\\u@\\h:\\w\\$ '\n",
	"home/user/.profile": "if [ -n \"$BASH_VERSION\" ] && [ -f \"$HOME/.bashrc\" ]; then . \"$HOME/.bashrc\"; fi\nif [ -d \"$HOME/.local/bin\" ]; then PATH=\"$HOME/.local/bin:$PATH\"; fi\n",
}

// Path is the PATH inside.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// CAPath is the CA bundle inside: the host's, with what its own CA variables
// name.
const CAPath = "/etc/ssl/certs/ca-certificates.crt"

// builder makes a skeleton; the first error stops it.
type builder struct {
	root string
	// owner is set when files may be given to `user`.
	owner bool
	err   error
}

func (b *builder) build() {
	for _, d := range directories {
		b.dir(d, 0o755)
	}
	b.dir("root", 0o700)
	b.dir("tmp", 0o777|fs.ModeSticky)
	b.dir("var/tmp", 0o777|fs.ModeSticky)
	b.dir("home/user", 0o755)
	b.dir("etc/profile.d", 0o755)
	b.link("/run", "var/run")
	b.link("/run/lock", "var/lock")
	b.link("/proc/self/mounts", "etc/mtab")
	for _, name := range boot.EtcLinks {
		b.link(".."+boot.RunDir+"/"+name, "etc/"+name)
	}
	for _, p := range copied {
		b.copyTree(p)
	}
	for path, content := range written {
		b.file(path, []byte(content))
	}
	b.apt()
	b.accounts()
	b.secret("etc/shadow", "etc/gshadow")
	b.file(CAPath[1:], hostBundle())
	b.pip()
	// A sandbox that crashes is thrown away: no sync per file of a package.
	b.file("etc/dpkg/dpkg.cfg.d/no-sync", []byte("force-unsafe-io\n"))
	b.system()
	b.give("home/user", "home/user/.bashrc", "home/user/.profile")
}

// system links or prepares the directories beside /usr that hold programs.
func (b *builder) system() {
	for _, name := range rootPrograms() {
		if target, err := os.Readlink("/" + name); err == nil {
			b.link(target, name)
			continue
		}
		b.dir(name, 0o755)
	}
	if b.owner {
		for _, d := range packageState() {
			b.dir(d[1:], 0o755)
		}
	}
}

// rootPrograms are those of /bin, /sbin, /lib* that the host has.
func rootPrograms() []string {
	var list []string
	for _, n := range []string{"bin", "sbin", "lib", "lib32", "lib64", "libx32"} {
		if _, err := os.Lstat("/" + n); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// packageState are the directories of the package manager, overlaid as root.
func packageState() []string {
	var list []string
	for _, d := range []string{"/var/lib/dpkg", "/var/lib/apt", "/var/cache/apt"} {
		if isDir(d) {
			list = append(list, d)
		}
	}
	return list
}

func (b *builder) at(rel string) string { return filepath.Join(b.root, rel) }

func (b *builder) do(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) dir(rel string, mode fs.FileMode) {
	b.do(os.MkdirAll(b.at(rel), 0o755))
	b.do(os.Chmod(b.at(rel), mode))
}

func (b *builder) link(target, rel string) { b.do(os.Symlink(target, b.at(rel))) }

func (b *builder) file(rel string, content []byte) {
	path := b.at(rel)
	b.do(os.MkdirAll(filepath.Dir(path), 0o755))
	_ = os.Remove(path)
	b.do(os.WriteFile(path, content, 0o644))
	b.do(os.Chmod(path, 0o644))
}

func (b *builder) secret(rels ...string) {
	for _, rel := range rels {
		b.do(os.Chmod(b.at(rel), 0o600))
	}
}

// userID is the id of `user` inside.
const userID = 1000

func (b *builder) give(rels ...string) {
	if !b.owner {
		return
	}
	for _, rel := range rels {
		b.do(os.Lchown(b.at(rel), userID, userID))
	}
}

// copyTree copies what everybody may read; anything else is left out.
func (b *builder) copyTree(src string) {
	_ = filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if skipped(path) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		b.copyOne(path, d)
		return b.err
	})
}

func skipped(path string) bool {
	for _, s := range skippedEtc {
		if path == s {
			return true
		}
	}
	return false
}

func (b *builder) copyOne(path string, d fs.DirEntry) {
	info, err := d.Info()
	if err != nil {
		return
	}
	switch {
	case d.IsDir():
		b.dir(path[1:], 0o755)
	case info.Mode()&fs.ModeSymlink != 0:
		if target, err := os.Readlink(path); err == nil {
			b.do(os.MkdirAll(filepath.Dir(b.at(path)), 0o755))
			b.link(target, path[1:])
		}
	case info.Mode().IsRegular() && info.Mode()&0o004 != 0:
		content, err := os.ReadFile(path)
		if err != nil {
			return
		}
		if strings.HasPrefix(path, "/etc/apt/") {
			content = withoutCredentials(content)
		}
		b.file(path[1:], content)
	}
}

// urlUser matches the user and password of a URL.
var urlUser = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)[^/\s@"']*@`)

// withoutCredentials cuts user and password out of every URL.
func withoutCredentials(b []byte) []byte { return urlUser.ReplaceAll(b, []byte("$1")) }

// apt says at once why it cannot work where there is one id.
func (b *builder) apt() {
	if b.owner || !isDir("/etc/apt") {
		return
	}
	b.file("etc/apt/apt.conf.d/99ordinary-user", []byte(`APT::Sandbox::User "root";
APT::Update::Pre-Invoke { "echo 'apt does not work in this sandbox: its server is run by an ordinary user, so the system files cannot change; run the server as root, or install into your home or a virtual environment' >&2; exit 1"; };
`))
}

// pip takes over where the host's own pip looks for packages.
func (b *builder) pip() {
	var out bytes.Buffer
	for _, line := range hostPipLines() {
		out.Write(withoutCredentials([]byte(line)))
		out.WriteByte('\n')
	}
	b.file("etc/pip.conf", append([]byte("[install]\nroot-user-action = ignore\n[global]\ndisable-pip-version-check = true\n"), out.Bytes()...))
}

// pipSettings are the lines of a pip.conf that say where packages are.
var pipSettings = regexp.MustCompile(`^\s*(index-url|extra-index-url|trusted-host)\s*=\s*\S+\s*$`)

func hostPipLines() []string {
	var lines []string
	b, _ := os.ReadFile("/etc/pip.conf")
	for line := range strings.Lines(string(b)) {
		if pipSettings.MatchString(line) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if u := os.Getenv("PIP_INDEX_URL"); u != "" && !strings.ContainsAny(u, "\n\r") {
		lines = append(lines, "index-url = "+u)
	}
	return lines
}
