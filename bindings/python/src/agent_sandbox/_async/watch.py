"""A directory that is watched."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from .._engine.async_process import AsyncEvents
from .._generated.types import FilesystemEvent, read_filesystem_event


class WatchHandle:
    """Events below a directory, in order. Iterating gives each once, and ends when the watch is stopped."""

    def __init__(self, events: AsyncEvents, on_event: Callable[[FilesystemEvent], Any] | None) -> None:
        self._events = events
        if on_event is not None:
            events.call(lambda event: on_event(read_filesystem_event(event)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def get_new_events(self) -> list[FilesystemEvent]:
        """The events that have come and that nobody has taken; it does not wait."""
        return [read_filesystem_event(event) for event in self._events.taken()]

    async def stop(self) -> None:
        """Ends the watch. Twice is fine. Raises what a callback raised."""
        await self._events.stop()

    async def wait(self) -> None:
        """Waits until the watch ends. Raises what ended it, or what a callback raised."""
        await self._events.wait()

    async def __aiter__(self) -> AsyncIterator[FilesystemEvent]:
        async for event in self._events:
            yield read_filesystem_event(event)

    async def __aenter__(self) -> WatchHandle:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.stop()
