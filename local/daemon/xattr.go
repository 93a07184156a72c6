package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits of file metadata in bytes (e2b.md 3.2): one name of an attribute, and
// all of a file's metadata together.
const (
	metadataPrefix = "user.e2b."
	metadataHeader = "X-Metadata-"
	maxMetadataKey = 246
	maxMetadata    = 4096
)

// metadataFrom reads the X-Metadata-* headers of an upload. Keys are lower-cased.
func metadataFrom(header http.Header) (map[string]string, error) {
	var all map[string]string
	total := 0
	for name, values := range header {
		if !strings.HasPrefix(name, metadataHeader) || len(values) == 0 {
			continue
		}
		key, value := strings.ToLower(name[len(metadataHeader):]), values[0]
		if key == "" || len(key) > maxMetadataKey || !printable(key) {
			return nil, fmt.Errorf("invalid metadata key '%s'", key)
		}
		if !printable(value) {
			return nil, fmt.Errorf("metadata value of '%s' must be printable ASCII", key)
		}
		total += len(metadataPrefix) + len(key) + len(value)
		if all == nil {
			all = make(map[string]string)
		}
		all[key] = value
	}
	if total > maxMetadata {
		return nil, fmt.Errorf("metadata takes %d bytes, at most %d are allowed", total, maxMetadata)
	}
	return all, nil
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// readMetadata returns the metadata of the file that path leads to, nil for none.
func readMetadata(path string) map[string]string {
	var all map[string]string
	for _, name := range attributes(path) {
		key, ours := strings.CutPrefix(name, metadataPrefix)
		if !ours {
			continue
		}
		buffer := make([]byte, maxMetadata)
		n, err := unix.Getxattr(path, name, buffer)
		if err != nil {
			continue
		}
		if all == nil {
			all = make(map[string]string)
		}
		all[validText(key)] = validText(string(buffer[:n]))
	}
	return all
}

// attributes lists the extended attributes of a file; none where there are none
// or the file system has none.
func attributes(path string) []string {
	var small [256]byte
	buffer := small[:]
	n, err := unix.Listxattr(path, buffer)
	for errors.Is(err, unix.ERANGE) && len(buffer) < 1<<16 {
		buffer = make([]byte, 4*len(buffer))
		n, err = unix.Listxattr(path, buffer)
	}
	if err != nil || n <= 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(buffer[:n]), "\x00"), "\x00")
}

// writeMetadata replaces the whole metadata of an open file.
func writeMetadata(fd int, path string, metadata map[string]string) error {
	for _, name := range attributes(path) {
		key, ours := strings.CutPrefix(name, metadataPrefix)
		if _, kept := metadata[key]; !ours || kept {
			continue
		}
		if err := unix.Fremovexattr(fd, name); err != nil && !errors.Is(err, unix.ENODATA) {
			return fmt.Errorf("error clearing metadata: %w", err)
		}
	}
	for key, value := range metadata {
		if err := unix.Fsetxattr(fd, metadataPrefix+key, []byte(value), 0); err != nil {
			return fmt.Errorf("error setting metadata: %w", err)
		}
	}
	return nil
}
