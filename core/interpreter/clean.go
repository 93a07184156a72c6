package interpreter

// Clean gives a JSON object in UTF-8 without what JSON does not have, as results are
// given on: NaN and infinities are null, broken characters U+FFFD. Errors: b is no
// JSON object.
func Clean(b []byte) ([]byte, error) {
	w := &copier{}
	w.object.owner, w.object.room = w, len(b)*8+mostKept
	w.dst = make([]byte, 0, len(b))
	used, err := w.one(b)
	if err != nil {
		return nil, err
	}
	if w.at != between || !w.ended {
		return nil, errSyntax
	}
	for _, c := range b[used:] {
		if !space(c) {
			return nil, errSyntax
		}
	}
	return w.dst, nil
}

// copier writes every member.
type copier struct {
	object
	ended bool
}

func (w *copier) begin() { w.dst = append(w.dst, '{') }

func (w *copier) member(key []byte) (fate, error) {
	if len(w.dst) > 1 {
		w.dst = append(w.dst, ',')
	}
	w.dst = append(appendKey(w.dst, string(key)), ':')
	return copied, nil
}

func (w *copier) full([]byte) ([]byte, error) { return nil, errTooLong }

func (w *copier) value() error { return nil }

func (w *copier) end() error {
	w.dst, w.ended = append(w.dst, '}'), true
	return nil
}
