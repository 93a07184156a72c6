package core

import (
	"errors"

	"github.com/agent-sandbox/agent-sandbox/core/connect"
)

// isMissing tells whether the data plane itself answered not_found.
func isMissing(err error) bool {
	var answer *connect.Error
	return errors.As(err, &answer) && answer.Code == "not_found" && !answer.Plain
}
