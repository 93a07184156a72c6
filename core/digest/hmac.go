package digest

// HMAC is HMAC-SHA-256 of data (RFC 2104).
func HMAC(key, data []byte) [Size]byte {
	if len(key) > blockSize {
		short := SHA256(key)
		key = short[:]
	}
	inner, outer := make([]byte, blockSize, blockSize+len(data)), make([]byte, blockSize, blockSize+Size)
	copy(inner, key)
	copy(outer, key)
	for i := range blockSize {
		inner[i] ^= 0x36
		outer[i] ^= 0x5c
	}
	sum := SHA256(append(inner, data...))
	return SHA256(append(outer, sum[:]...))
}

// Equal compares without telling by its time where a and b differ.
func Equal(a, b []byte) bool {
	if len(a) != len(b) {
		return false
	}
	var diff byte
	for i := range a {
		diff |= a[i] ^ b[i]
	}
	return diff == 0
}
