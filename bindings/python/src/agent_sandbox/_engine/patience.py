"""Bounds the waiting for asynchronous callbacks, which may never return."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from . import frame
from .json import decode
from .operation import Operation

#: Seconds that a callback may still take once the clock of what it belongs to has fired.
GRACE = 2.0


class Patience:
    """Cancels a callback that holds up a call whose clock has fired. ``timeout`` is the call's, in seconds:
    0 is none; ``outcome`` gives the result of the call once it is settled, or raises its error."""

    def __init__(self, operation: Operation, timeout: float, outcome: Callable[[], Any]) -> None:
        self._operation = operation
        self._timeout = timeout
        self._outcome = outcome
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._task: asyncio.Task[Any] | None = None  #: while it waits for a callback
        self._timer: asyncio.TimerHandle | None = None
        self._over = False
        if operation.outcome is None:
            operation.settlers.append(self._settled)
        else:
            self._settled()

    async def wait(self, returned: Awaitable[Any]) -> None:
        """Waits for a callback. Raises the error of the call, or CommandTimeoutError, when that takes too long."""
        self._task = asyncio.current_task()
        try:
            await returned
        except asyncio.CancelledError:
            if not self._over or self._cancelled_by_others():
                raise
        finally:
            self._task = None
        if self._over:
            raise self._failure()

    def end(self) -> None:
        """Nothing is waited for any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _settled(self) -> None:
        outcome = self._operation.outcome
        if outcome is None:
            return  # the caller has left
        kind, payload = outcome
        left = 0.0
        if kind == frame.RESULT or "clock" not in decode(payload):
            if not self._timeout:
                return
            left = max(self._began + self._timeout - self._loop.time(), 0)
        self._timer = self._loop.call_later(left + GRACE, self._end)

    def _end(self) -> None:
        self._over = True
        if self._task is not None:
            self._task.cancel()

    def _cancelled_by_others(self) -> bool:
        uncancel = getattr(asyncio.current_task(), "uncancel", None)  # since 3.11
        return uncancel is not None and uncancel() > 0

    def _failure(self) -> BaseException:
        from .._generated.errors import CommandTimeoutError, SandboxError

        late = "a callback had not returned"
        try:
            partial = self._outcome()
        except SandboxError as error:
            if error.clock:
                error.message = f"{error.message}; {late} {GRACE:g} s later"
                error.args = (error.message,)
            return error
        except Exception as error:
            return error
        message = f"{late} when the timeout of {self._timeout:g} s was over"
        pid = self._operation.pid
        return CommandTimeoutError(message, clock="command", limit=self._timeout, partial=partial, pid=pid)
