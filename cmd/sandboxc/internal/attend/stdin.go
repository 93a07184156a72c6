package attend

import "os"

// Piped tells whether somebody gave this program an input on purpose: a pipe, a
// socket or a file. A terminal is not (it takes -i), nor is /dev/null, nor a
// closed descriptor.
func Piped(stdin *os.File) bool {
	info, err := stdin.Stat()
	if err != nil {
		return false
	}
	return info.Mode()&os.ModeCharDevice == 0
}
