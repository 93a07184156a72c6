package method

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/agent-sandbox/agent-sandbox/core/fault"
)

// unpaired refuses half of a surrogate pair in a text: it is no character, and
// encoding/json reads it as U+FFFD, so that something else would be sent.
func unpaired(text []byte) error {
	if !lone(text) {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(text, &given); err != nil {
		return nil // it was read before
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if lone(given[name]) {
			option := fault.Option(name)
			return fault.InvalidArgument("%s cannot be sent: text must be valid Unicode, without lone surrogates", option).On(option)
		}
	}
	return fault.InvalidArgument("the names of the parameters must be valid Unicode, without lone surrogates")
}

// lone tells whether valid JSON has a surrogate without its other half. Those in
// pairs may be escaped, too.
func lone(text []byte) bool {
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 {
			return false
		}
		text = text[at:]
		switch half := escaped(text); {
		case half>>10 == 0xD800>>10 && escaped(text[6:])>>10 == 0xDC00>>10:
			text = text[12:]
		case half>>11 == 0xD800>>11:
			return true
		default:
			text = text[2:] // in valid JSON each escape has a second byte
		}
	}
}

// escaped is the number of a \u escape that text begins with, 0 = it does not.
func escaped(text []byte) uint64 {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	n, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return n
}
