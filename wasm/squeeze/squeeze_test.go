package main

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// goModule is a module as Go writes one, as far as this program looks: an import,
// a type, a function, an element section, code, and data with the table at 1000.
func goModule(records int) ([]byte, []byte) {
	image := make([]byte, 1000+records*recordSize+100)
	copy(image[10:], "before")
	for i := range records {
		binary.LittleEndian.PutUint32(image[1000+i*recordSize:], uint32(i/perIndex)) //nolint:gosec // small
	}
	copy(image[len(image)-50:], "after")
	m := &module{sections: []section{
		{sectionType, []byte{1, 0x60, 0, 0}},
		{sectionImport, []byte{1, 1, 'm', 1, 'n', 0, 0}},
		{sectionFunction, []byte{1, 0}},
		{sectionElement, []byte{0}},
		{sectionCode, []byte{1, 2, 0, 0x0b}},
		{sectionData, writeData(image)},
	}}
	return m.bytes(), image
}

func TestTheTableIsMadeAndTheRestStays(t *testing.T) {
	const records = 20_000
	b, image := goModule(records)
	small, err := squeeze(b)
	require.NoError(t, err)
	require.Less(t, len(small), len(b)/100)
	m, err := parse(small)
	require.NoError(t, err)
	require.Equal(t, binary.AppendUvarint(nil, 2), m.section(sectionStart), "after one import and one function")
	rest, err := readData(m.section(sectionData))
	require.NoError(t, err)
	rest = append(rest, make([]byte, len(image)-len(rest))...)
	for i := range records {
		binary.LittleEndian.PutUint32(rest[1000+i*recordSize:], uint32(i/perIndex)) //nolint:gosec // small
	}
	require.Equal(t, image, rest)
	found, ok := findTable(image)
	require.True(t, ok)
	require.Equal(t, table{1000, records}, found)
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	none, _ := goModule(100)
	good, _ := goModule(20_000)
	twice, err := squeeze(good)
	require.NoError(t, err)
	for name, b := range map[string][]byte{
		"empty": nil, "no module": []byte("hello"), "cut": good[:len(good)-10], "only a head": good[:8], "no table": none, "done already": twice,
	} {
		_, err := squeeze(b)
		require.Error(t, err, name)
	}
}
