package main

import "github.com/agent-sandbox/agent-sandbox/local/guest"

// inside runs what this program is inside a sandbox, when its name says so.
func inside(args []string) (handled bool, code int) { return guest.Main(args) }
