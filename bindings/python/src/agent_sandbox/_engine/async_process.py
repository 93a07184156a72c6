"""What is followed while the caller does something else, in asyncio. sync_process.py is its twin."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from typing import TYPE_CHECKING, Any

from . import frame
from .async_wait import leave, settled, until
from .callbacks import Callback, Callbacks
from .inside import calling, refuse
from .operation import Operation, Reader
from .outcome import cancelled, outcome, result
from .patience import Patience

if TYPE_CHECKING:
    from ..result import CommandResult
    from .code import Gathering


async def consume(operation: Operation, callbacks: Callbacks | Gathering, patience: Patience) -> None:
    """Calls back with everything, in order, until the outcome is there or the caller has left."""
    try:
        await _consume(operation, callbacks, patience)
    finally:
        patience.end()


async def _consume(operation: Operation, callbacks: Callbacks | Gathering, patience: Patience) -> None:
    reader = Reader(operation)
    await until(operation, "waiters", lambda: operation.started or operation.outcome)
    if operation.started:
        await _call(operation, callbacks.started(operation.pid), patience)
    while not operation.left:
        block = reader.take()
        if block is not None:
            await _call(operation, callbacks.due(*block), patience)
            if reader.consumed():
                operation.resume()
        elif operation.outcome is not None:
            await _call(operation, callbacks.last(), patience)
            return
        else:
            await _more(operation, operation.produced)


async def _more(operation: Operation, produced: int) -> None:
    """Waits for what comes after ``produced`` bytes."""
    await until(operation, "waiters", lambda: operation.produced != produced or operation.outcome or operation.left)


async def _call(operation: Operation, due: Iterable[tuple[Callback, Any]], patience: Patience) -> None:
    for callback, argument in due:
        if operation.left:
            return
        with calling(operation):
            returned = callback(argument)
            if hasattr(returned, "__await__"):
                await patience.wait(returned)


class AsyncProcess:
    """A process that is followed. With callbacks, a task of its own calls them."""

    def __init__(self, operation: Operation, callbacks: Callbacks) -> None:
        self._operation = operation
        self._raised: BaseException | None = None
        self._called: asyncio.Future[None] | None = None
        if callbacks:
            self._called = operation.driver.loop.create_future()
            operation.driver.spawn(self._call_back(callbacks, self._called))

    @property
    def pid(self) -> int:
        """The process's number inside the sandbox."""
        return self._operation.pid or 0

    async def _call_back(self, callbacks: Callbacks, called: asyncio.Future[None]) -> None:
        operation = self._operation
        ended = lambda: result(operation, outcome(operation, output=True))  # noqa: E731
        try:
            await consume(operation, callbacks, Patience(operation, 0, ended))
        except BaseException as error:
            # Whatever it is: whoever waits for the process gets it.
            self._raised = error
            self._operation.cancel("detach")
        finally:
            if not called.done():
                called.set_result(None)

    async def wait(self) -> CommandResult:
        """Waits for the end. Leaving only ends the waiting."""
        operation = self._operation
        refuse(operation)
        if self._called is not None:
            await asyncio.shield(self._called)
        else:
            await self._drain()
        if self._raised is not None:
            raise self._raised
        if operation.left and operation.outcome is None:
            raise cancelled(operation, output=True)
        return result(operation, outcome(operation, output=True))

    async def _drain(self) -> None:
        """Output that is not kept is dropped: somebody who waits does not read it."""
        operation = self._operation
        if isinstance(operation.blocks, list):
            await until(operation, "settlers", lambda: operation.outcome or operation.left)
            return
        async for _ in self:
            pass

    def disconnect(self) -> None:
        """Follows no more."""
        operation = self._operation
        if operation.outcome is None and not operation.left:
            operation.cancel("detach")
            operation.wake()

    async def __aiter__(self) -> AsyncIterator[tuple[int, bytes]]:
        operation, reader = self._operation, Reader(self._operation)
        while True:
            block = reader.take()
            if block is not None:
                yield block
                if reader.consumed():
                    operation.resume()
            elif operation.outcome is not None or operation.left:
                return
            else:
                await _more(operation, operation.produced)

    def kept(self, channel: int) -> list[bytes]:
        """The blocks of a channel so far."""
        return [block for c, block in list(self._operation.blocks) if c == channel]

    def end(self) -> dict[str, Any] | None:
        """How it ended; None while it runs, or when that is not known."""
        if self._operation.outcome is None or self._operation.outcome[0] != frame.RESULT:
            return None
        end: dict[str, Any] = outcome(self._operation)
        return end

    def failed(self) -> None:
        """Raises what ended the following, unless that was the end of the process."""
        operation = self._operation
        if operation.outcome is not None:
            _raise_unless_exit(operation)


def _raise_unless_exit(operation: Operation) -> None:
    from .._generated.errors import CommandExitError

    with contextlib.suppress(CommandExitError):
        outcome(operation, output=True)


class AsyncStream:
    """A body, piece by piece. Leaving it early ends the transfer."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._reader = Reader(operation)

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> bytes:
        operation = self._operation
        if self._reader.consumed():
            operation.resume()
        while True:
            block = self._reader.take()
            if block is not None:
                return block[1]
            if operation.left:
                raise StopAsyncIteration
            if operation.outcome is not None:
                outcome(operation)
                raise StopAsyncIteration
            try:
                await until(operation, "waiters", lambda: operation.blocks or operation.outcome or operation.left)
            except BaseException as error:
                leave(operation, error)
                raise

    async def read(self) -> bytes:
        """Everything that is left."""
        return b"".join([block async for block in self])

    async def aclose(self) -> None:
        """Ends the transfer. Twice is fine."""
        self._leave()

    def _leave(self) -> None:
        if self._operation.outcome is None and not self._operation.left:
            self._operation.cancel()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def __del__(self) -> None:
        operation = self._operation
        if operation.outcome is None and not operation.left and not operation.driver.loop.is_closed():
            operation.driver.loop.call_soon_threadsafe(self._operation.cancel)


class AsyncEvents:
    """Events of a watch."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._raised: BaseException | None = None

    def taken(self) -> list[Any]:
        """The events that have come and that nobody has taken."""
        events = self._operation.events
        return [events.popleft() for _ in range(len(events))]

    def call(self, callback: Callable[[Any], Any]) -> None:
        """Has a task of its own call back with each event."""
        self._operation.driver.spawn(self._call_back(callback))

    async def _call_back(self, callback: Callable[[Any], Any]) -> None:
        try:
            async for event in self:
                with calling(self._operation):
                    returned = callback(event)
                    if hasattr(returned, "__await__"):
                        await returned
        except BaseException as error:
            self._raised = error
            self.leave()

    async def __aiter__(self) -> AsyncIterator[Any]:
        operation = self._operation
        while not operation.left:
            if operation.events:
                yield operation.events.popleft()
            elif operation.outcome is not None:
                outcome(operation)
                return
            else:
                await until(operation, "waiters", lambda: operation.events or operation.outcome or operation.left)

    def leave(self) -> None:
        """Ends the watch."""
        if self._operation.outcome is None and not self._operation.left:
            self._operation.cancel()
            self._operation.wake()

    async def stop(self) -> None:
        """Ends the watch, and waits until it has ended. Raises what a callback raised."""
        self.leave()
        await settled(self._operation)
        if self._raised is not None:
            raise self._raised

    async def wait(self) -> None:
        """Waits until the watch ends by itself. Raises what ended it, or what a callback raised."""
        refuse(self._operation)
        await until(self._operation, "settlers", lambda: self._operation.outcome or self._operation.left)
        if self._raised is not None:
            raise self._raised
        if not self._operation.left:
            outcome(self._operation)
