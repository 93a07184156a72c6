"""Reads what a caller gives in the caller's own thread, for a loop in another one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator

from .operation import Operation


class Reads:
    """An asynchronous view of ``open``'s pieces: each is read by the thread that waits for the
    operation, as a pull of it."""

    def __init__(self, open: Callable[[], Iterable[bytes]], operation: Operation | None = None) -> None:
        self._open = open
        self._pieces: Iterator[bytes] | None = None
        self.operation = operation

    def __aiter__(self) -> Reads:
        return self

    async def __anext__(self) -> bytes:
        assert self.operation is not None
        loop = self.operation.driver.loop
        future: asyncio.Future[bytes | None] = loop.create_future()

        def answer(piece: bytes | None, error: BaseException | None) -> None:
            if future.done():
                return
            if error is not None:
                future.set_exception(_Raised(error))
            else:
                future.set_result(piece)

        def pull() -> None:
            piece, error = self._next()
            try:
                loop.call_soon_threadsafe(answer, piece, error)
            except RuntimeError:
                return

        self.operation.pull(pull)
        try:
            piece = await future
        except _Raised as raised:
            raise raised.error from None
        if piece is None:
            raise StopAsyncIteration
        return piece

    def _next(self) -> tuple[bytes | None, BaseException | None]:
        try:
            if self._pieces is None:
                self._pieces = iter(self._open())
            return next(self._pieces, None), None
        except BaseException as error:
            # The loop gets it and ends the operation; then it comes back to this thread.
            return None, error


class _Raised(Exception):
    """Carries any exception through a future, which takes no StopIteration and no KeyboardInterrupt."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
