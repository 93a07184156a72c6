"""What a caller sends while an operation runs, piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING

from .._host.closed import put_away
from . import frame
from .json import encode

if TYPE_CHECKING:
    from .operation import Operation


class Input:
    """Reads the caller's pieces as the core asks for them."""

    def __init__(self, operation: Operation, pieces: AsyncIterable[bytes]) -> None:
        self._operation = operation
        self._pieces = pieces
        self._wanted = 0
        self._task: asyncio.Task[None] | None = None
        self._more: asyncio.Event = asyncio.Event()

    def wanted(self) -> None:
        """The core takes one more."""
        self._wanted += 1
        self._more.set()
        if self._task is None:
            if getattr(self._pieces, "operation", self) is None:
                self._pieces.operation = self._operation  # type: ignore[attr-defined]
            self._task = self._operation.driver.loop.create_task(self._serve())

    async def _serve(self) -> None:
        operation = self._operation
        try:
            await self._turn()
            async for piece in self._pieces:
                operation.feed(0, frame.INPUT, bytes(piece))
                await self._turn()
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            operation.raised = error
            operation.feed(0, frame.INPUT_END, encode({"error": f"the caller's input failed: {type(error).__name__}"}))
            return
        operation.feed(0, frame.INPUT_END)

    async def _turn(self) -> None:
        while not self._wanted:
            self._more.clear()
            await self._more.wait()
        self._wanted -= 1

    def abandon(self) -> None:
        """The loop is closed."""
        if self._task is not None:
            put_away(self._task)

    def close(self) -> None:
        """The operation has ended."""
        if self._task is not None:
            self._task.cancel()
