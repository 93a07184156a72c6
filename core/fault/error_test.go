package fault

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorsAreFoundByCodeThroughWraps(t *testing.T) {
	e := New(CodeNoSpace, "no %s", "space").Suggest("free %d bytes", 3).Because(context.Canceled)
	wrapped := fmt.Errorf("around: %w", e)
	require.Equal(t, CodeNoSpace, CodeOf(wrapped))
	require.Same(t, e, As(wrapped))
	require.ErrorIs(t, wrapped, context.Canceled)
	require.Equal(t, "E4004: no space (free 3 bytes)", e.Error())
}

func TestWhatIsNoneOfOursHasNoCode(t *testing.T) {
	require.Nil(t, As(nil))
	require.Nil(t, As(errors.New("x")))
	require.Equal(t, Code(""), CodeOf(errors.New("x")))
	require.Equal(t, "E9000: ", (&Error{}).Error())
}
