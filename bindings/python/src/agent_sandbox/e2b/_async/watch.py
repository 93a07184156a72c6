"""A directory that is watched."""

from __future__ import annotations

# async only
import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..._async.watch import WatchHandle as Own
from ..._generated.errors import SandboxError
from ..exceptions import TimeoutException, of_sandbox, rename


class AsyncWatchHandle:
    """A watch that goes on until it is stopped, or its time is over."""

    def __init__(self, own: Own, on_exit: Callable[[Exception | None], Any] | None, timeout: float | None) -> None:
        self._own = own
        self._on_exit = on_exit
        self._ending = asyncio.ensure_future(self._follow(timeout or None))

    async def _follow(self, timeout: float | None) -> None:
        error: Exception | None = None
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.ensure_future(self._own.wait())), timeout)
        except asyncio.TimeoutError:
            error = TimeoutException("the watch ran out of time: 'timeout' sets how long it may last, 0 = no limit")
            with suppress(Exception):
                await self._own.stop()
        except asyncio.CancelledError:
            await self._exited(None)
            raise
        except Exception as ended:
            error = rename(ended) if isinstance(ended, SandboxError) else ended
        await self._exited(error)

    async def _exited(self, error: Exception | None) -> None:
        if self._on_exit is None:
            return
        with suppress(Exception):  # nobody is there to hear of it
            returned = self._on_exit(error)
            if hasattr(returned, "__await__"):
                await returned

    async def stop(self) -> None:
        """Ends the watch."""
        with of_sandbox():
            await self._own.stop()
        await asyncio.wait((self._ending,))


# sync: from ..._async.watch import WatchHandle as Own
# sync: from ..exceptions import of_sandbox
# sync: from ..info import FilesystemEvent
# sync:
# sync:
# sync: class WatchHandle:
# sync:     """A watch that goes on until it is stopped."""
# sync:
# sync:     def __init__(self, own: Own) -> None:
# sync:         self._own = own
# sync:
# sync:     def get_new_events(self, request_timeout: float | None = None) -> list[FilesystemEvent]:
# sync:         """The events that have come since the last call."""
# sync:         with of_sandbox():
# sync:             return self._own.get_new_events()
# sync:
# sync:     def stop(self, request_timeout: float | None = None) -> None:
# sync:         """Ends the watch."""
# sync:         with of_sandbox():
# sync:             self._own.stop()
# end
