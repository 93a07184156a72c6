package jupyter

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"sync"
)

// Session signs what is sent to one kernel and checks what comes from it. Make
// it with NewSession; several goroutines may use it.
type Session struct {
	id, key string
	macs    sync.Pool
}

// NewSession makes a session with a random key.
func NewSession() *Session {
	s := &Session{id: newID(), key: newID() + newID()}
	s.macs.New = func() any { return hmac.New(sha256.New, []byte(s.key)) }
	return s
}

// signature is that of a message's parts, of which the first is left out.
func (s *Session) signature(parts [][]byte) []byte {
	mac := s.macs.Get().(hash.Hash)
	defer s.macs.Put(mac)
	mac.Reset()
	for _, p := range parts[partHeader:partCount] {
		mac.Write(p)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

func (s *Session) signed(parts [][]byte) bool {
	return hmac.Equal(parts[partSignature], s.signature(parts))
}

// newID is a random id of 32 hexadecimal digits.
func newID() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}
