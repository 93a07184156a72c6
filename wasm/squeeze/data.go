package main

import "encoding/binary"

// gap is how many zeros may stand in a segment before another one is smaller: a
// segment has about so much around it.
const gap = 8

// maxImage bounds the memory of a module that Go wrote for us.
const maxImage = 64 << 20

// readData gives memory as the data section makes it.
func readData(body []byte) ([]byte, error) {
	n, size := binary.Uvarint(body)
	if size <= 0 {
		return nil, errBroken
	}
	body = body[size:]
	var image []byte
	for range n {
		at, data, rest, err := segment(body)
		if err != nil {
			return nil, err
		}
		if end := at + len(data); end > len(image) {
			image = append(image, make([]byte, end-len(image))...)
		}
		copy(image[at:], data)
		body = rest
	}
	return image, nil
}

// segment reads an active one of memory 0 whose offset is a constant.
func segment(body []byte) (at int, data, rest []byte, err error) {
	if len(body) < 2 || body[0] != 0 || body[1] != 0x41 {
		return 0, nil, nil, errBroken
	}
	offset, body, ok := signed(body[2:])
	if !ok || offset < 0 || offset > maxImage || len(body) == 0 || body[0] != 0x0b {
		return 0, nil, nil, errBroken
	}
	n, size := binary.Uvarint(body[1:])
	if size <= 0 || n > uint64(len(body)-1-size) || n > maxImage {
		return 0, nil, nil, errBroken
	}
	body = body[1+size:]
	return int(offset), body[:n], body[n:], nil
}

func signed(b []byte) (n int64, rest []byte, ok bool) {
	for i, c := range b {
		if i == 5 {
			break
		}
		n |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c&0x40 != 0 {
				n -= 1 << (7 * (i + 1))
			}
			return n, b[i+1:], true
		}
	}
	return 0, nil, false
}

// writeData leaves out what is zero anyhow.
func writeData(image []byte) []byte {
	var body []byte
	n := uint64(0)
	for at := 0; at < len(image); {
		if image[at] == 0 {
			at++
			continue
		}
		end := segmentEnd(image, at)
		body = append(body, 0, 0x41)
		body = appendSigned(body, int64(at))
		body = append(body, 0x0b)
		body = binary.AppendUvarint(body, uint64(end-at))
		body = append(body, image[at:end]...)
		n++
		at = end
	}
	return append(binary.AppendUvarint(nil, n), body...)
}

func segmentEnd(image []byte, at int) int {
	end := at + 1
	for i := at; i < len(image) && i-end < gap; i++ {
		if image[i] != 0 {
			end = i + 1
		}
	}
	return end
}
