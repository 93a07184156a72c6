"""Which operations' callbacks are running here: these must not be waited for, they would wait for themselves."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .operation import Operation

#: Tasks that a callback makes inherit this, so it is emptied when the callback has returned.
_calling: ContextVar[list[Operation] | None] = ContextVar("agent_sandbox_calling", default=None)


@contextmanager
def calling(operation: Operation) -> Iterator[None]:
    """A callback of an operation runs."""
    now = [operation, *(_calling.get() or ())]
    token = _calling.set(now)
    try:
        yield
    finally:
        now.clear()
        with suppress(ValueError):  # a coroutine that is forgotten ends in another context
            _calling.reset(token)


def refuse(operation: Operation) -> None:
    """Raises RuntimeError inside a callback of the operation."""
    if operation in (_calling.get() or ()):
        raise RuntimeError("wait() inside a callback would wait for the callback itself: wait elsewhere")
