package shell

// texts keeps what texts were read as: hosts send the same client and the same
// sandbox with every call. The zero value is ready.
type texts[T any] struct{ known map[string]*T }

// maxTexts bounds what is kept; beyond it everything is dropped, and read again
// when needed.
const maxTexts = 256

func (t *texts[T]) read(text []byte, read func([]byte) (*T, error)) (*T, error) {
	if known := t.known[string(text)]; known != nil {
		return known, nil
	}
	value, err := read(text)
	if err != nil {
		return nil, err
	}
	if t.known == nil || len(t.known) >= maxTexts {
		t.known = map[string]*T{}
	}
	t.known[string(text)] = value
	return value, nil
}
