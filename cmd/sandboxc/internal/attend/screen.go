package attend

import (
	"os"

	"golang.org/x/term"

	"github.com/agent-sandbox/agent-sandbox/core"
)

// defaultSize is that of a terminal nobody looks at.
var defaultSize = core.Size{Cols: 80, Rows: 24}

// IsTerminal tells whether f is one.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// sizeOf gives the size of the first of files that is a terminal.
func sizeOf(files ...*os.File) core.Size {
	for _, f := range files {
		if f == nil {
			continue
		}
		cols, rows, err := term.GetSize(int(f.Fd()))
		if err == nil && cols > 0 && rows > 0 {
			return core.Size{Cols: uint32(cols), Rows: uint32(rows)}
		}
	}
	return defaultSize
}

// Raw switches the terminal f to raw mode. restore may be called at any time,
// also twice; f that is no terminal stays as it is.
func Raw(f *os.File) (restore func(), err error) {
	if f == nil || !IsTerminal(f) {
		return func() {}, nil
	}
	old, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() { _ = term.Restore(int(f.Fd()), old) }, nil
}
