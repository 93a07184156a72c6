package api

import (
	"crypto/rand"
	"encoding/hex"
)

const idAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

// NewID makes a sandbox ID: i and 20 lower-case letters and digits (e2b.md
// 1.2), too many to guess.
func NewID() string {
	id := make([]byte, 0, 21)
	id = append(id, 'i')
	var pool [32]byte
	for len(id) < cap(id) {
		// rand.Read never fails: it ends the program first.
		_, _ = rand.Read(pool[:])
		for _, b := range pool {
			// 252 is the largest multiple of 36 in a byte: no letter is likelier.
			if b < 252 && len(id) < cap(id) {
				id = append(id, idAlphabet[b%36])
			}
		}
	}
	return string(id)
}

// NewToken makes a secret of 256 bits, in hex.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// ValidID reports whether id has the form that a sandbox ID may have: E2B's
// proxy asks for nothing more than lower-case letters and digits.
func ValidID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
