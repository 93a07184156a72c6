package main

import "encoding/binary"

// recordSize is that of runtime.findfuncbucket: the index of a function, and 16
// bytes that are zero where a function has many records.
const (
	recordSize = 20
	perIndex   = 16
	fewest     = 10_000 // a shorter table is not worth it
)

// table is where record i says i/16.
type table struct{ at, records int }

// findTable finds the longest one.
func findTable(image []byte) (t table, ok bool) {
	for at := 0; at+fewest*recordSize <= len(image); at += 4 {
		// Cheap: record 16 is the first that says 1.
		if image[at+perIndex*recordSize] != 1 || image[at+2*perIndex*recordSize] != 2 || image[at] != 0 {
			continue
		}
		if n := count(image[at:]); n >= fewest && n > t.records {
			t = table{at, n}
		}
	}
	return t, t.records > 0
}

func count(b []byte) int {
	for i := 0; ; i++ {
		r := b[min(i*recordSize, len(b)):]
		if len(r) < recordSize || binary.LittleEndian.Uint32(r) != uint32(i/perIndex) { //nolint:gosec // small
			return i
		}
		for _, c := range r[4:recordSize] {
			if c != 0 {
				return i
			}
		}
	}
}

// code is the body of a function that writes the table: i and p count up.
func (t table) code() []byte {
	b := []byte{1, 2, 0x7f} // two locals, i32: 0 = i, 1 = p
	b = append(b, 0x41)
	b = appendSigned(b, int64(t.at))
	b = append(b, 0x21, 1)                                     // p = at
	b = append(b, 0x03, 0x40)                                  // loop
	b = append(b, 0x20, 1, 0x20, 0, 0x41, 4, 0x76, 0x36, 2, 0) // *p = i >> 4
	b = append(b, 0x20, 1, 0x41, recordSize, 0x6a, 0x21, 1)    // p += 20
	b = append(b, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41)       // i += 1
	b = appendSigned(b, int64(t.records))
	return append(b, 0x49, 0x0d, 0, 0x0b, 0x0b) // again while i < records
}

func appendSigned(b []byte, n int64) []byte {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
