//go:build linux

package template

import "testing"

// BenchmarkTemplates is what each start of a sandbox pays.
func BenchmarkTemplates(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if err := s.put(Info{Name: name, Base: "base"}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s.Templates()
	}
}
