"""A command's stdin that is written to piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine
from typing import Any

from .exceptions import of_process


class AsyncCommandInputHandle:
    """Writes to a process in one call: ``send`` as often as there is something, then ``close``."""

    def __init__(self, stream: Callable[[AsyncIterable[bytes]], Coroutine[Any, Any, None]]) -> None:
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        self._sending = asyncio.ensure_future(stream(self._all()))

    async def _all(self) -> AsyncIterator[bytes]:
        while (piece := await self._pieces.get()) is not None:
            yield piece

    async def send(self, data: str | bytes) -> None:
        """Writes a piece."""
        await self._put(data.encode() if isinstance(data, str) else bytes(data))

    async def close(self) -> None:
        """Ends the call, when all is written. The process's stdin stays open."""
        if not self._sending.done():
            await self._put(None)
        with of_process():
            await self._sending

    async def _put(self, piece: bytes | None) -> None:
        put = asyncio.ensure_future(self._pieces.put(piece))
        await asyncio.wait((put, self._sending), return_when=asyncio.FIRST_COMPLETED)
        if put.done():
            return
        put.cancel()
        with of_process():
            await self._sending

    async def __aenter__(self) -> AsyncCommandInputHandle:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
