//go:build !unix

package attend

import "os"

// notifySize: nobody tells of a new size here.
func notifySize(chan<- os.Signal) {}
