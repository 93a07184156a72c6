package method

// Table gives every method.
func Table() []Method {
	return files()
}
