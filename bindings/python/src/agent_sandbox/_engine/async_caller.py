"""Calls of the core from asyncio. sync_caller.py is its twin for threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable
from typing import TYPE_CHECKING, Any

from .async_process import AsyncEvents, AsyncProcess, AsyncStream, consume
from .async_wait import leave, told, until, value
from .callbacks import Callbacks
from .driver import Driver, running
from .instant import instant
from .link import Link
from .operation import DROP, KEEP, QUEUE, Operation
from .outcome import outcome, result
from .patience import Patience
from .secret import Secret

if TYPE_CHECKING:
    from ..execution import Execution
    from ..result import CommandResult
    from .code import Gathering
    from .source import Source


#: Seconds that a command and code may take unless a call says otherwise.
_COMMAND, _CODE = 60.0, 300.0


class AsyncCaller:
    """The ways in which classes call the core. Cancelling the task that waits cancels the call."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def _driver(self, anew: bool = False) -> Driver:
        driver = running()
        if not driver.engine.loaded():
            await driver.load()
        if anew or not self._link.client.ready:
            await self._link.client.prepare(driver, anew)
        return driver

    async def _call(self, method: str, params: dict[str, Any], request_timeout: float | None = None) -> Any:
        """Calls and waits for the result."""
        operation = Operation(await self._driver(), self._link.client.transport)
        self._begin(operation, method, params, b"", request_timeout)
        return await value(operation)

    async def _call_anew(self, method: str, params: dict[str, Any]) -> Any:
        """Calls on the account: a local server that has ended meanwhile is found or started again."""
        from .._generated.errors import ConnectFailedError

        found = self._link.client.ready
        try:
            return await self._call(method, params)
        except ConnectFailedError:
            if not self._link.client.local or not (found or self._link.client.reused):
                raise
        await self._driver(anew=True)
        return await self._call(method, params)

    def _call_now(self, method: str, params: dict[str, Any]) -> Any:
        """Calls what needs no waiting."""
        return instant(Secret(self._link.payload(method, params)))

    def _begin(
        self, operation: Operation, method: str, params: dict[str, Any], data: bytes = b"", clock: float | None = None
    ) -> None:
        operation.driver.call(operation, self._link.payload(method, params, data, milliseconds(clock)))

    async def _send(
        self, method: str, params: dict[str, Any], data: bytes, request_timeout: float | None = None
    ) -> Any:
        """Calls with bytes attached."""
        operation = Operation(await self._driver(), self._link.client.transport)
        self._begin(operation, method, params, data, request_timeout)
        return await value(operation)

    async def _stream(self, method: str, params: dict[str, Any], pieces: AsyncIterable[bytes]) -> Any:
        """Calls with pieces that are sent while the call runs."""
        operation = Operation(await self._driver(), self._link.client.transport, input=pieces)
        self._begin(operation, method, params)
        return await value(operation)

    async def _write(
        self, method: str, params: dict[str, Any], data: bytes, sources: dict[int, Source], clock: float | None = None
    ) -> Any:
        """Calls with bulk data, which the parameters name."""
        operation = Operation(await self._driver(), self._link.client.transport, sources=sources)
        self._begin(operation, method, params, data, clock)
        return await value(operation)

    async def _read(self, method: str, params: dict[str, Any], clock: float | None = None) -> bytes:
        """Reads a whole body."""
        operation = Operation(await self._driver(), self._link.client.transport, output=KEEP)
        self._begin(operation, method, params, clock=clock)
        await value(operation)
        return operation.body()

    async def _open(self, method: str, params: dict[str, Any], clock: float | None = None) -> AsyncStream:
        """Reads a body piece by piece."""
        operation = Operation(await self._driver(), self._link.client.transport, output=QUEUE)
        await self._start_following(operation, method, params, clock)
        return AsyncStream(operation)

    async def _run(self, method: str, params: dict[str, Any], callbacks: Callbacks, retain: bool) -> CommandResult:
        """Follows a process to its end; leaving ends the process."""
        output = KEEP if retain else QUEUE if callbacks else DROP
        operation = Operation(
            await self._driver(),
            self._link.client.transport,
            output=output,
            bounded=bool(callbacks),
            patient=not callbacks,
        )
        if not callbacks:
            operation.gather()
        self._begin(operation, method, params)
        try:
            if callbacks:
                ended = lambda: result(operation, outcome(operation, output=True))  # noqa: E731
                await consume(operation, callbacks, Patience(operation, _timeout(params, _COMMAND), ended))
            else:
                await until(operation, "settlers", lambda: operation.outcome)
        except BaseException as error:
            leave(operation, error, output=True)
            if not isinstance(error, (asyncio.CancelledError, GeneratorExit)):
                await told(operation)
            raise
        return result(operation, outcome(operation, output=True))

    async def _code(self, params: dict[str, Any], gathering: Gathering) -> Execution:
        """Runs code to its end; leaving interrupts it."""
        called = bool(gathering)
        operation = Operation(
            await self._driver(),
            self._link.client.transport,
            output=QUEUE if called else KEEP,
            bounded=called,
            patient=not called,
        )
        operation.started = True  # there is no process whose start would be told
        self._begin(operation, "sandbox.run_code", params)
        try:
            if called:
                patience = Patience(operation, _timeout(params, _CODE), lambda: gathering.outcome(operation))
                await consume(operation, gathering, patience)
            else:
                await until(operation, "settlers", lambda: operation.outcome)
        except BaseException as error:
            leave(operation, error)
            if not isinstance(error, (asyncio.CancelledError, GeneratorExit)):
                await told(operation)
            raise
        return gathering.outcome(operation)

    async def _start(self, method: str, params: dict[str, Any], callbacks: Callbacks, retain: bool) -> AsyncProcess:
        """Follows a process in the background, once it has started."""
        operation = Operation(
            await self._driver(), self._link.client.transport, output=KEEP if retain else QUEUE, bounded=bool(callbacks)
        )
        await self._start_following(operation, method, params)
        return AsyncProcess(operation, callbacks)

    async def _watch(self, method: str, params: dict[str, Any], clock: float | None = None) -> AsyncEvents:
        """Follows events, once they are watched."""
        operation = Operation(await self._driver(), self._link.client.transport)
        await self._start_following(operation, method, params, clock)
        return AsyncEvents(operation)

    async def _start_following(
        self, operation: Operation, method: str, params: dict[str, Any], clock: float | None = None
    ) -> None:
        self._begin(operation, method, params, clock=clock)
        try:
            await until(operation, "waiters", lambda: operation.started or operation.outcome)
        except BaseException as error:
            leave(operation, error, output=True)
            raise
        operation.followed = True
        if not operation.started:
            outcome(operation, output=True)


def milliseconds(seconds: float | None) -> int | None:
    """A request timeout as the core takes it."""
    if seconds is None:
        return None
    from .._generated.convert import write_seconds

    return write_seconds("request_timeout", seconds)


def _timeout(params: dict[str, Any], usual: float) -> float:
    """The seconds that a call with such parameters may take; 0 is no limit."""
    given = params.get("timeout_ms")
    return usual if given is None else float(given) / 1000
