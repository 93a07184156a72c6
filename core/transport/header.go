package transport

import "strings"

// Header is a list of name and value pairs, in wire order. net/http's map type
// alone would cost the WebAssembly build 0.4 MB. Names compare without case.
type Header [][2]string

// Get is the first value of name, "" when absent.
func (h Header) Get(name string) string {
	for _, f := range h {
		if strings.EqualFold(f[0], name) {
			return f[1]
		}
	}
	return ""
}

// Has tells whether name occurs.
func (h Header) Has(name string) bool {
	for _, f := range h {
		if strings.EqualFold(f[0], name) {
			return true
		}
	}
	return false
}

// Set replaces every value of name by one.
func (h *Header) Set(name, value string) {
	kept := (*h)[:0:0]
	for _, f := range *h {
		if !strings.EqualFold(f[0], name) {
			kept = append(kept, f)
		}
	}
	*h = append(kept, [2]string{name, value})
}

// Add appends a value of name.
func (h *Header) Add(name, value string) { *h = append(*h, [2]string{name, value}) }
