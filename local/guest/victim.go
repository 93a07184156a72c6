//go:build linux

package guest

import (
	"os"
	"strconv"
	"strings"
)

// victimScore makes commands die before process 1 when memory runs out.
const victimScore = 500

// victims marks new processes. The zero value, or one that could not be
// opened, marks nothing.
type victims struct {
	own *os.File
	// usual is the score of this process itself.
	usual int
}

// openVictims has to run while the process may still open its own /proc
// files. A negative score of the server is not inherited: nothing inside could
// be killed when memory runs out.
func openVictims() *victims {
	f, err := os.OpenFile("/proc/self/oom_score_adj", os.O_RDWR, 0)
	if err != nil {
		return &victims{}
	}
	b := make([]byte, 16)
	n, _ := f.ReadAt(b, 0)
	usual, _ := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	v := &victims{own: f, usual: max(usual, 0)}
	v.set(v.usual)
	return v
}

// during runs start, whose new process inherits the mark.
func (v *victims) during(start func()) {
	v.set(max(v.usual, victimScore))
	defer v.set(v.usual)
	start()
}

func (v *victims) set(score int) {
	if v.own != nil {
		_, _ = v.own.WriteAt([]byte(strconv.Itoa(score)), 0)
	}
}
