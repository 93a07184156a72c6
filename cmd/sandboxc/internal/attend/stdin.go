package attend

import "os"

// Piped tells whether somebody gave this program an input on purpose: a pipe, a
// socket, a file, a device. A terminal is not (it takes -i), nor is the null
// device, which is also what a closed stdin becomes.
func Piped(stdin *os.File) bool {
	info, err := stdin.Stat()
	if err != nil || IsTerminal(stdin) {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
