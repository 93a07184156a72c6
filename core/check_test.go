package core

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnArgumentIsNamedAsItWasGiven(t *testing.T) {
	long := strings.Repeat("x", maxArgument)
	for message, argv := range map[string][]string{
		"the command has a NUL byte": Shell("a\x00"),
		"the command has 131072 bytes, more than Linux takes as one argument (131071)": Shell(long),
		"argument 3 has a NUL byte": {"/bin/sh", "-l", "-c", "a\x00"},
		"argument 0 has 131072 bytes, more than Linux takes as one argument (131071)": {long},
	} {
		require.ErrorContains(t, checkArguments(argv), message)
	}
}
