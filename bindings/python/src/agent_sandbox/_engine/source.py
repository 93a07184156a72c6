"""Bulk data of a caller, which goes to the wire past the core."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .operation import Operation


class Source:
    """Data that ``open`` gives an operation in pieces, each time from the start; ``size`` in bytes, None
    when it is not known; ``replayable`` when it can be opened more than once."""

    def __init__(self, open: Callable[[Operation], AsyncIterable[bytes]], size: int | None, replayable: bool) -> None:
        self.pieces = open
        self.size = size
        self.replayable = replayable

    def describe(self, id: int) -> dict[str, Any]:
        """How parameters name it."""
        about: dict[str, Any] = {"id": id, "replayable": self.replayable}
        if self.size is not None:
            about["size"] = self.size
        return about

    def body(self, prefix: bytes, suffix: bytes, operation: Operation) -> Any:
        """The body of a request."""
        length = None if self.size is None else len(prefix) + self.size + len(suffix)
        return (prefix, self._read(operation), suffix, length)

    async def _read(self, operation: Operation) -> AsyncIterator[bytes]:
        try:
            async for piece in self.pieces(operation):
                yield piece
        except (asyncio.CancelledError, GeneratorExit):
            raise
        except BaseException as error:
            # Whatever it is, it is for the caller, who waits for the end of the operation.
            operation.raised = error
            raise SourceError from None


class SourceError(Exception):
    """A source failed; the operation keeps why."""


class Memory(Source):
    """Bytes that are all there."""

    def __init__(self, data: bytes) -> None:
        super().__init__(self._once, len(data), True)
        self._data = data

    async def _once(self, operation: Operation) -> AsyncIterator[bytes]:
        yield self._data

    def body(self, prefix: bytes, suffix: bytes, operation: Operation) -> Any:
        """The body of a request: as it is where nothing stands around it."""
        if not prefix and not suffix:
            return self._data
        return super().body(prefix, suffix, operation)
