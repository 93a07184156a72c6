package envd

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-sandbox/agent-sandbox/core/plane"
)

// The messages of filesystem.Filesystem (e2b.md 3.5).

var fileTypes = map[uint64]plane.FileType{0: plane.TypeUnknown, 1: plane.TypeFile, 2: plane.TypeDirectory, 3: plane.TypeSymlink}

var fileTypeNames = map[string]plane.FileType{
	"": plane.TypeUnknown, "FILE_TYPE_UNSPECIFIED": plane.TypeUnknown,
	"FILE_TYPE_FILE": plane.TypeFile, "FILE_TYPE_DIRECTORY": plane.TypeDirectory, "FILE_TYPE_SYMLINK": plane.TypeSymlink,
}

// entryField collects the fields of one EntryInfo.
func entryField(e *plane.Entry, f field) error {
	switch f.num {
	case 1:
		e.Name = string(f.bytes)
	case 2:
		e.Type = knownType(f.n)
	case 3:
		e.Path = string(f.bytes)
	case 4:
		e.Size = int64(f.n)
	case 5:
		e.Mode = uint32(f.n)
	case 6:
		e.Permissions = string(f.bytes)
	case 7:
		e.Owner = string(f.bytes)
	case 8:
		e.Group = string(f.bytes)
	case 9:
		return parseTime(f.bytes, &e.ModifiedTime)
	case 10:
		e.SymlinkTarget = string(f.bytes)
	case 11:
		if e.Metadata == nil {
			e.Metadata = map[string]string{}
		}
		return parseMapEntry(f.bytes, e.Metadata)
	}
	return nil
}

func knownType(n uint64) plane.FileType {
	if t, ok := fileTypes[n]; ok {
		return t
	}
	return plane.FileType("type_" + itoa(n))
}

func parseTime(b []byte, t *time.Time) error {
	var sec, nano int64
	err := eachField(b, func(f field) error {
		switch f.num {
		case 1:
			sec = int64(f.n)
		case 2:
			nano = int64(f.n)
		}
		return nil
	})
	*t = time.Unix(sec, nano).UTC()
	return err
}

func parseEntry(b []byte) (*plane.Entry, error) {
	e := &plane.Entry{Type: plane.TypeUnknown}
	return e, eachField(b, func(f field) error { return entryField(e, f) })
}

// jsonEntry is EntryInfo in JSON: int64 travels as a string.
type jsonEntry struct {
	Name          string            `json:"name"`
	Type          string            `json:"type"`
	Path          string            `json:"path"`
	Size          json.Number       `json:"size"`
	Mode          uint32            `json:"mode"`
	Permissions   string            `json:"permissions"`
	Owner         string            `json:"owner"`
	Group         string            `json:"group"`
	ModifiedTime  time.Time         `json:"modifiedTime"`
	SymlinkTarget string            `json:"symlinkTarget"`
	Metadata      map[string]string `json:"metadata"`
}

func (j *jsonEntry) entry() *plane.Entry {
	size, _ := j.Size.Int64()
	t, ok := fileTypeNames[j.Type]
	if !ok {
		t = plane.FileType(strings.ToLower(strings.TrimPrefix(j.Type, "FILE_TYPE_")))
	}
	return &plane.Entry{
		Name: j.Name, Type: t, Path: j.Path, Size: size, Mode: j.Mode, Permissions: j.Permissions, Owner: j.Owner,
		Group: j.Group, ModifiedTime: j.ModifiedTime.UTC(), SymlinkTarget: j.SymlinkTarget, Metadata: j.Metadata,
	}
}

// entryAnswer is every answer {entry 1}.
type entryAnswer struct{ entry *plane.Entry }

func (a *entryAnswer) ParseProto(b []byte) error {
	return eachField(b, func(f field) (err error) {
		if f.num == 1 {
			a.entry, err = parseEntry(f.bytes)
		}
		return err
	})
}

func (a *entryAnswer) ParseJSON(b []byte) error {
	var m struct {
		Entry *jsonEntry `json:"entry"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	if m.Entry != nil {
		a.entry = m.Entry.entry()
	}
	return nil
}

// entryList is ListDirResponse {entries 1}.
type entryList struct{ entries []plane.Entry }

func (l *entryList) ParseProto(b []byte) error {
	l.entries = nil
	return eachField(b, func(f field) error {
		if f.num != 1 {
			return nil
		}
		e, err := parseEntry(f.bytes)
		l.entries = append(l.entries, *e)
		return err
	})
}

func (l *entryList) ParseJSON(b []byte) error {
	var m struct {
		Entries []jsonEntry `json:"entries"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	l.entries = nil
	for i := range m.Entries {
		l.entries = append(l.entries, *m.Entries[i].entry())
	}
	return nil
}
