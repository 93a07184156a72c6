"""What is followed while the caller does something else, from threads. async_process.py is its twin.

Callbacks are called by whoever waits, in his thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from . import frame
from .callbacks import Callback, Callbacks
from .inside import calling, refuse
from .operation import Operation, Reader
from .outcome import cancelled, outcome, result
from .sync_wait import cancel, leave, settled, until

if TYPE_CHECKING:
    from ..result import CommandResult
    from .code import Gathering


def consume(operation: Operation, callbacks: Callbacks | Gathering) -> None:
    """Calls back with everything, in order, until the outcome is there or the caller has left."""
    reader = Reader(operation)
    until(operation, "waiters", lambda: operation.started or operation.outcome or operation.left)
    if operation.started:
        _call(operation, callbacks.started(operation.pid))
    while not operation.left:
        ended, produced = operation.outcome is not None, operation.produced
        block = reader.take()
        if block is not None:
            _call(operation, callbacks.due(*block))
            consumed(operation, reader)
        elif ended:
            _call(operation, callbacks.last())
            return
        else:
            _more(operation, produced)


def consumed(operation: Operation, reader: Reader) -> None:
    """What was taken has been dealt with."""
    if reader.consumed():
        operation.driver.loop.call_soon_threadsafe(operation.resume)


def _more(operation: Operation, produced: int) -> None:
    """Waits for what comes after ``produced`` bytes."""
    until(operation, "waiters", lambda: operation.produced != produced or operation.outcome or operation.left)


class CallbackRaised(Exception):
    """Tells what a callback raised from what ended the waiting."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _call(operation: Operation, due: Iterable[tuple[Callback, Any]]) -> None:
    for callback, argument in due:
        if operation.left:
            return
        try:
            with calling(operation):
                returned = callback(argument)
            if hasattr(returned, "__await__"):
                returned.close()
                raise TypeError("a callback of the blocking classes must not be asynchronous")
        except BaseException as error:
            raise CallbackRaised(error) from None


class SyncProcess:
    """A process that is followed."""

    def __init__(self, operation: Operation, callbacks: Callbacks) -> None:
        self._operation = operation
        self._callbacks = callbacks

    @property
    def pid(self) -> int:
        """The process's number inside the sandbox."""
        return self._operation.pid or 0

    def wait(self) -> CommandResult:
        """Waits for the end, and calls back meanwhile. Leaving only ends the waiting, but for what a
        callback raises: then it is followed no more."""
        operation = self._operation
        refuse(operation)
        if self._callbacks:
            self._call_back()
        elif isinstance(operation.blocks, list):
            until(operation, "settlers", lambda: operation.outcome or operation.left)
        else:
            for _ in self:
                pass
        if operation.left and operation.outcome is None:
            raise cancelled(operation, output=True)
        return result(operation, outcome(operation, output=True))

    def _call_back(self) -> None:
        callbacks, self._callbacks = self._callbacks, Callbacks()
        try:
            consume(self._operation, callbacks)
        except CallbackRaised as raised:
            self.disconnect()
            raise raised.error from None
        except BaseException:
            self._callbacks = callbacks
            raise

    def disconnect(self) -> None:
        """Follows no more."""
        operation = self._operation
        if operation.outcome is None and not operation.left:
            cancel(operation, "detach")
            operation.driver.loop.call_soon_threadsafe(operation.wake)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        operation, reader = self._operation, Reader(self._operation)
        while True:
            # Looked at before the blocks are, so that nothing slips in between.
            ended, produced = operation.outcome is not None, operation.produced
            block = reader.take()
            if block is not None:
                yield block
                consumed(operation, reader)
            elif ended or operation.left:
                return
            else:
                _more(operation, produced)

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
        from .._generated.errors import CommandExitError

        if self._operation.outcome is None:
            return
        try:
            outcome(self._operation, output=True)
        except CommandExitError:
            return


class SyncStream:
    """A body, piece by piece. Leaving it early ends the transfer."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._reader = Reader(operation)

    def __iter__(self) -> SyncStream:
        return self

    def __next__(self) -> bytes:
        operation = self._operation
        consumed(operation, self._reader)
        while True:
            ended = operation.outcome is not None
            block = self._reader.take()
            if block is not None:
                return block[1]
            if operation.left:
                raise StopIteration
            if ended:
                outcome(operation)
                raise StopIteration
            try:
                until(operation, "waiters", lambda: operation.blocks or operation.outcome or operation.left)
            except BaseException as error:
                leave(operation, error, output=True)
                raise

    def read(self) -> bytes:
        """Everything that is left."""
        return b"".join(self)

    def close(self) -> None:
        """Ends the transfer. Twice is fine."""
        if self._operation.outcome is None and not self._operation.left:
            cancel(self._operation)

    def __enter__(self) -> SyncStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


class SyncEvents:
    """Events of a watch."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._callback: Callable[[Any], Any] | None = None

    def taken(self) -> list[Any]:
        """The events that have come and that nobody has taken."""
        events = self._operation.events
        return [events.popleft() for _ in range(len(events))]

    def call(self, callback: Callable[[Any], Any]) -> None:
        """Has ``wait`` call back with each event."""
        self._callback = callback

    def __iter__(self) -> Iterator[Any]:
        operation = self._operation
        while not operation.left:
            ended = operation.outcome is not None
            if operation.events:
                yield operation.events.popleft()
            elif ended:
                outcome(operation)
                return
            else:
                until(operation, "waiters", lambda: operation.events or operation.outcome or operation.left)

    def leave(self) -> None:
        """Ends the watch."""
        if self._operation.outcome is None and not self._operation.left:
            cancel(self._operation)
            self._operation.driver.loop.call_soon_threadsafe(self._operation.wake)

    def stop(self) -> None:
        """Ends the watch, and waits until it has ended."""
        self.leave()
        settled(self._operation)

    def wait(self) -> None:
        """Waits until the watch ends, and calls back meanwhile. Raises what ended it."""
        refuse(self._operation)
        callback = self._callback
        if callback is None:
            until(self._operation, "settlers", lambda: self._operation.outcome or self._operation.left)
            if not self._operation.left:
                outcome(self._operation)
            return
        try:
            for event in self:
                with calling(self._operation):
                    callback(event)
        except BaseException:
            self.leave()
            raise
