package runner

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// KnownFailures reads the titles of cases that a driver is known to fail: one a
// line, with a # and the reason behind it. Such a case is still run, and fails
// the build once it passes.
func KnownFailures(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	known := map[string]string{}
	for line := range strings.Lines(string(b)) {
		title, why, _ := strings.Cut(line, "#")
		if title = strings.TrimSpace(title); title != "" {
			known[title] = strings.TrimSpace(why)
		}
	}
	return known, nil
}
