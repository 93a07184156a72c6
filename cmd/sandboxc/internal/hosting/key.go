package hosting

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
	"github.com/agent-sandbox/agent-sandbox/native"
)

// keyFile holds the server's API key, in the state directory.
const keyFile = "api_key"

// newKey has the form of E2B's keys, which its Python SDK insists on (e2b.md 1).
func newKey() string {
	var b [20]byte
	_, _ = rand.Read(b[:])
	return "e2b_" + hex.EncodeToString(b[:])
}

// loadKey gives the machine's key and makes it once. The file is 0600 in a
// directory that is 0700; a file that others can read is refused. The caller
// holds the lock of the state.
func loadKey(getenv func(string) string) (string, error) {
	dir := native.StateDir(getenv)
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o700)); err != nil {
		return "", err
	}
	path := filepath.Join(dir, keyFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKey(path)
	}
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fault.New(fault.CodeAuthentication, "%s can be read by others, so its key cannot be trusted", path).
			Suggest("rm %s: a new key is made at the next start", path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(b))
	if !wellFormed(key) {
		return "", fault.New(fault.CodeAuthentication, "%s does not hold a key", path).
			Suggest("rm %s: a new key is made at the next start", path)
	}
	return key, nil
}

func wellFormed(key string) bool {
	digits, ok := strings.CutPrefix(key, "e2b_")
	return ok && len(digits) >= 32 && strings.Trim(digits, "0123456789abcdef") == ""
}

func makeKey(path string) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // 0600
	if err != nil {
		return "", err
	}
	key := newKey()
	_, err = f.WriteString(key + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return key, nil
}
