//go:build linux

package isolation

import (
	"os"

	"github.com/agent-sandbox/agent-sandbox/local/isolation/boot"
)

type rlimit = boot.Rlimit

func ownedTree(path string, id int) (*os.File, error) { return detach(path, true) }
