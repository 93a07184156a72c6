"""The timers of all operations of a loop, by one timer of the loop's.

Nearly every timer of the core is cleared long before its time, or set anew with each chunk: so setting
and clearing are cheap, and the loop is asked only when something may be due.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from . import frame

if TYPE_CHECKING:
    from .operation import Operation

_NEVER = float("inf")


class Clock:
    """One a driver."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._timers: dict[Timer, None] = {}
        self._next = _NEVER
        self._handle: asyncio.TimerHandle | None = None

    def set(self, timer: Timer, ms: int) -> None:
        """Fires a timer after so many milliseconds from now."""
        timer.deadline = deadline = self._loop.time() + (ms or 1) / 1000
        self._timers[timer] = None
        if deadline < self._next:
            self._ask(deadline)

    def clear(self, timer: Timer) -> None:
        """It is wanted no more."""
        self._timers.pop(timer, None)

    def _ask(self, deadline: float) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._next = deadline
        self._handle = self._loop.call_at(deadline, self._look)

    def _look(self) -> None:
        self._handle, self._next = None, _NEVER
        now = self._loop.time()
        due = [timer for timer in self._timers if timer.deadline <= now]
        for timer in due:
            del self._timers[timer]
        if self._timers:
            self._ask(min(timer.deadline for timer in self._timers))
        for timer in due:
            timer.fire()

    def stop(self) -> None:
        """Nothing fires any more."""
        self._timers.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle, self._next = None, _NEVER


class Timer:
    """A timer of an operation."""

    __slots__ = ("_operation", "_stream", "deadline")

    def __init__(self, operation: Operation, stream: int) -> None:
        self._operation = operation
        self._stream = stream
        self.deadline = _NEVER

    def set(self, ms: int) -> None:
        """Fires after so many milliseconds from now; one that is set already starts anew."""
        self._operation.driver.clock.set(self, ms)

    def fire(self) -> None:
        """Its time has come."""
        self._operation.over(self._stream)
        self._operation.feed(self._stream, frame.TIMER)

    def close(self) -> None:
        """It is wanted no more."""
        self._operation.driver.clock.clear(self)

    def pause(self) -> None:
        """Nothing to hold back."""

    def resume(self) -> None:
        """Nothing to go on with."""

    def loose_end(self) -> tuple[int, bytes]:
        """It fires, though early."""
        return frame.TIMER, b""
