package command

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

const (
	profileDir  = "/etc/apparmor.d"
	profileName = "sandboxc"
)

// fixAppArmor lets this program make user namespaces where AppArmor refuses them
// to ordinary users (Ubuntu 23.10 and later).
func fixAppArmor(a *App) error {
	if _, err := os.Stat(profileDir); err != nil {
		a.Note("this machine has no AppArmor: nothing to write")
		return nil
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	if binary, err = filepath.EvalSymlinks(binary); err != nil {
		return err
	}
	if err := installed(binary); err != nil {
		return err
	}
	path := filepath.Join(profileDir, profileName)
	if err := sudo(a, profile(binary), "tee", path); err != nil {
		return fault.New(fault.CodeForbidden, "%s could not be written", path).Because(err)
	}
	if err := sudo(a, "", "apparmor_parser", "-r", path); err != nil {
		return fault.New(fault.CodeForbidden, "the profile %s could not be loaded", path).Because(err)
	}
	a.Note("wrote and loaded %s for %s", path, binary)
	return nil
}

// installed refuses programs whose path does not last, or that another user
// could replace: the profile gives rights to a path.
func installed(binary string) error {
	if strings.HasPrefix(binary, os.TempDir()+"/") || strings.Contains(binary, "/go-build") {
		return fault.InvalidArgument("%s is a path of `go run` or a temporary one, which a profile cannot name", binary).
			Suggest("go install ./cmd/sandboxc, then run the installed sandboxc doctor --fix")
	}
	if strings.ContainsAny(binary, "\"\\*?[]{}^@\n") {
		return fault.InvalidArgument("the path %q has a character that means something else in a profile", binary).
			Suggest("install sandboxc elsewhere, such as /usr/local/bin")
	}
	return nil
}

// profile is the text of Ubuntu's own profiles for such programs: unconfined,
// but for the right to make user namespaces.
func profile(binary string) string {
	return fmt.Sprintf(`abi <abi/4.0>,
include <tunables/global>

profile %s "%s" flags=(unconfined) {
  userns,
  include if exists <local/%s>
}
`, profileName, binary, profileName)
}

// sudo runs a program as root, asking for the password where needed.
func sudo(a *App, stdin string, argv ...string) error {
	if os.Geteuid() != 0 {
		argv = append([]string{"sudo"}, argv...)
	}
	cmd := exec.CommandContext(a.ctx, argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Stdin = strings.NewReader(stdin)
	return cmd.Run()
}
