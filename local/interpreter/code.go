package interpreter

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// checkCode refuses what is no code. It goes to the kernel as it came.
func checkCode(raw json.RawMessage) (json.RawMessage, error) {
	var text *string
	if len(raw) == 0 {
		return nil, errors.New("code is missing")
	}
	if err := json.Unmarshal(raw, &text); err != nil || text == nil {
		return nil, errors.New("code must be a text")
	}
	if i := strings.IndexByte(*text, 0); i >= 0 {
		return nil, fmt.Errorf("code contains a NUL byte (at byte %d), which no kernel can read", i)
	}
	return raw, nil
}
