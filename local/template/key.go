//go:build linux

package template

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-sandbox/agent-sandbox/local/isolation"
)

// keyVersion changes when layers are made otherwise.
const keyVersion = "1"

// Ground says on what the layers of a template stand: with another ground they
// would not work. A new Python, say, looks for packages elsewhere.
func Ground(base isolation.Template) string {
	h := sha256.New()
	_, _ = fmt.Fprintln(h, keyVersion, base.ID, base.Names, os.Geteuid() == 0, runtime.GOARCH)
	for _, program := range []string{"/usr/bin/python3", "/usr/local/bin/python3"} {
		real, _ := filepath.EvalSymlinks(program)
		_, _ = fmt.Fprintln(h, real)
	}
	return hex.EncodeToString(h.Sum(nil)[:keySize])
}

// keySize is how much of a hash names a layer, in bytes.
const keySize = 12

// layerKey names what a step writes over a parent. content is the hash of the
// files that it copies.
func layerKey(parent string, env map[string]string, s *Step, content string) (string, error) {
	step, err := json.Marshal(struct {
		Version, Parent, Run, User, Content string
		Env                                 map[string]string
	}{keyVersion, parent, s.Run, s.user(), content, env})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(step)
	return hex.EncodeToString(sum[:keySize]), nil
}
