"""Calls of the core from threads: the work is done on the background loop, the caller waits. Twin of
async_caller.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .async_caller import milliseconds
from .background import Background, background
from .callbacks import Callbacks
from .instant import instant
from .link import Link
from .operation import DROP, KEEP, QUEUE, Operation
from .outcome import outcome, result
from .secret import Secret
from .source import Memory
from .sync_process import CallbackRaised, SyncEvents, SyncProcess, SyncStream, consume
from .sync_source import Reads
from .sync_wait import leave, told, until, value

if TYPE_CHECKING:
    from ..execution import Execution
    from ..result import CommandResult
    from .code import Gathering
    from .source import Source


class SyncCaller:
    """The ways in which classes call the core. KeyboardInterrupt cancels the call."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def _loop(self, anew: bool = False) -> Background:
        loop = background()
        if not loop.driver.engine.loaded():
            loop.driver.engine.load()
        client = self._link.client
        if anew or not client.ready:
            loop.wait(client.prepare(loop.driver, anew))
        return loop

    def _operation(self, **how: Any) -> Operation:
        return Operation(self._loop().driver, self._link.client.transport, **how)

    def _lead(self, operation: Operation) -> None:
        """Begins what is prepared, and waits for its outcome."""
        if not background().lead(operation):
            operation.driver.loop.call_soon_threadsafe(operation.driver.begin, operation)
            until(operation, "settlers", lambda: operation.outcome)

    def _value(
        self, operation: Operation, method: str, params: dict[str, Any], data: bytes = b"", clock: float | None = None
    ) -> Any:
        """Calls, and waits for the result: in this thread, if nothing is read in it meanwhile."""
        operation.payload = self._link.payload(method, params, data, milliseconds(clock))
        try:
            self._lead(operation)
        except BaseException as error:
            leave(operation, error)
            raise
        return outcome(operation)

    def _begin(
        self, operation: Operation, method: str, params: dict[str, Any], data: bytes = b"", clock: float | None = None
    ) -> None:
        operation.payload = self._link.payload(method, params, data, milliseconds(clock))
        operation.driver.loop.call_soon_threadsafe(operation.driver.begin, operation)

    def _call(self, method: str, params: dict[str, Any], request_timeout: float | None = None) -> Any:
        """Calls and waits for the result."""
        return self._send(method, params, b"", request_timeout)

    def _call_anew(self, method: str, params: dict[str, Any]) -> Any:
        """Calls on the account: a local server that has ended meanwhile is found or started again."""
        from .._generated.errors import ConnectFailedError

        found = self._link.client.ready
        try:
            return self._call(method, params)
        except ConnectFailedError:
            if not self._link.client.local or not (found or self._link.client.reused):
                raise
        self._loop(anew=True)
        return self._call(method, params)

    def _call_now(self, method: str, params: dict[str, Any]) -> Any:
        """Calls what needs no waiting."""
        return instant(Secret(self._link.payload(method, params)))

    def _send(self, method: str, params: dict[str, Any], data: bytes, request_timeout: float | None = None) -> Any:
        """Calls with bytes attached."""
        return self._value(self._operation(), method, params, data, request_timeout)

    def _stream(self, method: str, params: dict[str, Any], pieces: Iterable[bytes]) -> Any:
        """Calls with pieces that are sent while the call runs."""
        operation = self._operation(input=Reads(lambda: pieces))
        self._begin(operation, method, params)
        return value(operation)

    def _write(
        self, method: str, params: dict[str, Any], data: bytes, sources: dict[int, Source], clock: float | None = None
    ) -> Any:
        """Calls with bulk data, which the parameters name."""
        operation = self._operation(sources=sources)
        if all(isinstance(source, Memory) for source in sources.values()):
            return self._value(operation, method, params, data, clock)
        self._begin(operation, method, params, data, clock)
        return value(operation)

    def _read(self, method: str, params: dict[str, Any], clock: float | None = None) -> bytes:
        """Reads a whole body."""
        operation = self._operation(output=KEEP)
        self._value(operation, method, params, clock=clock)
        return operation.body()

    def _open(self, method: str, params: dict[str, Any], clock: float | None = None) -> SyncStream:
        """Reads a body piece by piece."""
        operation = self._operation(output=QUEUE)
        self._start_following(operation, method, params, clock)
        return SyncStream(operation)

    def _run(self, method: str, params: dict[str, Any], callbacks: Callbacks, retain: bool) -> CommandResult:
        """Follows a process to its end; leaving ends the process."""
        output = KEEP if retain else QUEUE if callbacks else DROP
        operation = self._operation(output=output, bounded=bool(callbacks), patient=not callbacks)
        operation.payload = self._link.payload(method, params)
        try:
            if callbacks:
                operation.driver.loop.call_soon_threadsafe(operation.driver.begin, operation)
                consume(operation, callbacks)
            else:
                operation.gather()
                self._lead(operation)
        except CallbackRaised as raised:
            leave(operation, raised.error, output=True)
            told(operation)
            raise raised.error from None
        except BaseException as error:
            leave(operation, error, output=True)
            raise
        return result(operation, outcome(operation, output=True))

    def _code(self, params: dict[str, Any], gathering: Gathering) -> Execution:
        """Runs code to its end; leaving interrupts it."""
        called = bool(gathering)
        operation = self._operation(output=QUEUE if called else KEEP, bounded=called, patient=not called)
        operation.started = True  # there is no process whose start would be told
        self._begin(operation, "sandbox.run_code", params)
        try:
            if called:
                consume(operation, gathering)
            else:
                until(operation, "settlers", lambda: operation.outcome)
        except CallbackRaised as raised:
            leave(operation, raised.error)
            told(operation)
            raise raised.error from None
        except BaseException as error:
            leave(operation, error)
            raise
        return gathering.outcome(operation)

    def _start(self, method: str, params: dict[str, Any], callbacks: Callbacks, retain: bool) -> SyncProcess:
        """Follows a process in the background, once it has started."""
        operation = self._operation(output=KEEP if retain else QUEUE, bounded=bool(callbacks))
        self._start_following(operation, method, params)
        return SyncProcess(operation, callbacks)

    def _watch(self, method: str, params: dict[str, Any], clock: float | None = None) -> SyncEvents:
        """Follows events, once they are watched."""
        operation = self._operation()
        self._start_following(operation, method, params, clock)
        return SyncEvents(operation)

    def _start_following(
        self, operation: Operation, method: str, params: dict[str, Any], clock: float | None = None
    ) -> None:
        self._begin(operation, method, params, clock=clock)
        try:
            until(operation, "waiters", lambda: operation.started or operation.outcome)
        except BaseException as error:
            leave(operation, error, output=True)
            raise
        operation.followed = True
        if not operation.started:
            outcome(operation, output=True)
