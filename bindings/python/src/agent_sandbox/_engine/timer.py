"""A timer of an operation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from . import frame

if TYPE_CHECKING:
    from .operation import Operation


class Timer:
    """Idle clocks start anew with each chunk, so a later deadline costs no timer of the loop's: the
    old one fires, sees that it is early, and waits for the rest."""

    def __init__(self, operation: Operation, stream: int) -> None:
        self._operation = operation
        self._stream = stream
        self._deadline = 0.0
        self._handle: asyncio.TimerHandle | None = None

    def set(self, ms: int) -> None:
        """Fires after so many milliseconds from now."""
        loop = self._operation.driver.loop
        self._deadline = loop.time() + max(ms, 1) / 1000
        if self._handle is not None:
            if self._handle.when() <= self._deadline:
                return
            self._handle.cancel()
        self._handle = loop.call_at(self._deadline, self._fire)

    def _fire(self) -> None:
        loop = self._operation.driver.loop
        if loop.time() < self._deadline:
            self._handle = loop.call_at(self._deadline, self._fire)
            return
        self._handle = None
        self._operation.over(self._stream)
        self._operation.feed(self._stream, frame.TIMER)

    def close(self) -> None:
        """It is wanted no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def pause(self) -> None:
        """Nothing to hold back."""

    def resume(self) -> None:
        """Nothing to go on with."""

    def loose_end(self) -> tuple[int, bytes]:
        """It fires, though early."""
        return frame.TIMER, b""
