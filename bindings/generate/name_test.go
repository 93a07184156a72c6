package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNamesAreSpeltAsTheCallerDoes(t *testing.T) {
	for _, c := range []struct{ wire, snake, camel, python, constant string }{
		{"path", "path", "path", "path", "PATH"},
		{"timeout_ms", "timeout_ms", "timeoutMs", "timeout", "TIMEOUT_MS"},
		{"allowOut", "allow_out", "allowOut", "allow_out", "ALLOW_OUT"},
		{"RequestID", "request_id", "requestId", "request_id", "REQUEST_ID"},
		{"from", "from", "from", "from_", "FROM"},
		{"pause.memory", "pause.memory", "pause.memory", "pause.memory", "PAUSE_MEMORY"},
		{"named-commands", "named-commands", "named-commands", "named-commands", "NAMED_COMMANDS"},
	} {
		require.Equal(t, c.snake, toSnake(c.wire))
		require.Equal(t, c.camel, camel(c.snake))
		require.Equal(t, c.python, pythonic(c.snake))
		require.Equal(t, c.constant, constant(c.wire))
	}
	require.Equal(t, "FilesGetInfo", pascal("files.get_info"))
}

func TestACommentIsTakenApart(t *testing.T) {
	for _, c := range []struct {
		comment, text string
		raises        []Raises
	}{
		{"X kills it.", "Kills it.", nil},
		{"X is the host name.", "The host name.", nil},
		{"X kills\nit (e2b.md 3.5).\n\nOr not.", "Kills it.\n\nOr not.", nil},
		{"X does. Errors: E4001.", "Does.", []Raises{{"E4001", ""}}},
		{"X does. Errors: E4001 when it\nis missing, E4003 when it is none, and E2000 other.", "Does.", []Raises{{"E4001", "when it is missing"}, {"E4003", "when it is none"}, {"E2000", "other"}}},
		{"X does. Errors: as y.", "Does. Errors: as y.", nil},
	} {
		require.Equal(t, Doc{c.text, c.raises}, parseDoc("X", c.comment))
	}
}

func TestWordsOfTheTableAreSpeltAsTheCallerDoes(t *testing.T) {
	m, err := inspected(t, boxes()...)
	require.NoError(t, err)
	text := "until wait or wait_ms has passed, max_weight, other_word"
	require.Equal(t, "until wait or waitMs has passed, maxWeight, other_word", m.respell(text, camel))
	require.Equal(t, "until wait or wait has passed, max_weight, other_word", m.respell(text, pythonic))
}
