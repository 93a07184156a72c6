"""The host of one event loop: it performs what the core orders, on that loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, Protocol

from .._host.closed import close_sockets, put_away
from . import frame
from .engine import Engine, engine
from .json import encode
from .loading import load
from .orphan import Watch, hand_over
from .timer import Clock

if TYPE_CHECKING:
    from .._host.http import Http
    from .._host.store import Store
    from .gathered import Gathered

#: Input is gathered up to this many bytes before it crosses.
_CROSSING = 256 << 10

#: Seconds that input may wait for more of the same operation to cross together with.
_LINGER = 0.025

#: One piece of input is at most so large: the core's memory never shrinks.
_LARGEST_PIECE = 1 << 20
_WHOLE = (frame.WS_TEXT, frame.WS_BINARY)  # a message is one frame, whatever its size

#: Seconds that tails of cancelled operations may still take when a loop ends.
CLEANUP_CLOCK = 5.0


class Target(Protocol):
    """Whoever gets the frames of an operation."""

    driver: Driver
    op: int
    payload: bytes
    gathered: Gathered | None  #: where its output goes, past ``take``

    def take(self, stream: int, kind: int, payload: bytes) -> None:
        """One frame, on the driver's loop."""

    def fail(self, error: BaseException) -> None:
        """The host could not do what was ordered."""

    def leave(self, everybody: bool) -> None:
        """The loop ends. Whoever still follows something stops; if ``everybody`` does, nobody waits."""

    def loose_ends(self) -> list[tuple[int, int, bytes]]:
        """Frames that end what it waits for, once nothing can come any more: stream, kind, payload."""


class Driver:
    """See the module. Its methods are for its loop's thread, but for wake()."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.engine: Engine = engine()
        self.outbox: deque[tuple[Target, int, int, bytes]] = deque()
        self._parts: list[bytes] = []
        self._size = 0
        self._flushing = False
        self._lingering: asyncio.TimerHandle | None = None
        self._https: dict[tuple[str | None, str | None], Http] = {}
        self._store: Store | None = None
        self._idle: asyncio.Future[None] | None = None
        self.clock = Clock(loop)
        self._finalizer: AsyncGenerator[None, None] | None = None
        self.preparing = asyncio.Lock()
        self.tasks: set[asyncio.Task[None]] = set()
        self.ended: Callable[[], object] | None = None  #: told when an operation has ended
        self._closed = False

    async def load(self) -> None:
        """Makes sure that the core is there, without holding up the loop."""
        if not self.engine.loaded():
            await self.loop.run_in_executor(None, self.engine.load)

    def begin(self, target: Target) -> None:
        """Begins an operation from another thread. The loop, which may log what it runs, does not see
        the payload: there are secrets in it."""
        payload, target.payload = target.payload, b""
        self.call(target, payload)

    def call(self, target: Target, payload: bytes) -> None:
        """Begins an operation."""
        parts, size = self._gathered()
        try:
            self.engine.call(target, parts, size, payload)
        except BaseException as error:
            target.fail(error)
            raise
        self.deliver()

    def feed(
        self, op: int, stream: int, kind: int, payload: bytes = b"", linger: bool = False, flushed: bool = False
    ) -> None:
        """Sends a frame to the core, soon; if it may linger, within some milliseconds, together with
        what comes until then: crossing costs more than most of what crosses. One that is ``flushed`` is
        followed by a flush at once."""
        n = len(payload)
        if n > _LARGEST_PIECE and kind not in _WHOLE:
            for at in range(0, n, _LARGEST_PIECE):
                self.feed(op, stream, kind, payload[at : at + _LARGEST_PIECE], linger, flushed)
            return
        self._parts.append(frame.header(op, stream, kind, n))
        size = n + 16
        if n:
            padding = frame.padding(n)
            self._parts += (payload, padding)
            size += len(padding)
        self._size += size
        if self._size >= _CROSSING:
            self.flush()
        elif self._flushing or flushed:
            return
        elif not linger:
            self._flushing = True
            self.loop.call_soon(self.flush)
        elif self._lingering is None:
            self._lingering = self.loop.call_later(_LINGER, self.flush)

    def feed_json(self, op: int, stream: int, kind: int, value: Any) -> None:
        """Sends a frame of JSON."""
        self.feed(op, stream, kind, encode(value))

    def _gathered(self) -> tuple[list[bytes], int]:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        parts, size = self._parts, self._size
        self._parts, self._size = [], 0
        return parts, size

    def flush(self) -> None:
        """Crosses now with what has been gathered."""
        self._flushing = False
        parts, size = self._gathered()
        if parts:
            self.engine.run(self, parts, size)
            self.deliver()

    def deliver(self) -> None:
        """Hands out what the core gave."""
        outbox = self.outbox
        while outbox:
            target, stream, kind, payload = outbox.popleft()
            try:
                target.take(stream, kind, payload)
            except Exception as error:
                target.fail(error.with_traceback(None))  # whose frames have requests with keys in them
            if kind == frame.DONE:
                self._ended()

    def wake(self) -> None:
        """Something came out in another thread."""
        try:
            self.loop.call_soon_threadsafe(self.deliver)
        except RuntimeError:
            self.orphaned()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Runs work that nobody waits for."""
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def http(self, proxy: str | None, ca_file: str | None) -> Http:
        """The loop's HTTP connections."""
        key = (proxy, ca_file)
        found = self._https.get(key)
        if found is None:
            from .._host.http import Http

            found = self._https[key] = Http(proxy=proxy, ca_file=ca_file, environ=os.environ)
        return found

    def store(self) -> Store:
        """The store of named blobs."""
        if self._store is None:
            from .._host.store import Store

            self._store = Store(self.loop, os.environ)
        return self._store

    def guard(self) -> None:
        """Makes the loop end our work before it ends itself: asyncio closes its asynchronous
        generators when every task has been cancelled, and waits for them."""
        Watch(self)
        if getattr(self.loop, "_asyncgens_shutdown_called", False):
            return
        self._finalizer = self._until_shutdown()
        with contextlib.suppress(StopIteration):
            self._finalizer.asend(None).send(None)

    async def _until_shutdown(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await self.aclose()

    def busy(self) -> bool:
        """Whether the loop is needed for more than connections that are kept."""
        if self.tasks or self.engine.live(self):
            return True
        return any(http.busy() for http in self._https.values())

    def _ended(self) -> None:
        if self.ended is not None:
            self.ended()
        if self._idle is not None and not self._idle.done() and not self.engine.live(self):
            self._idle.set_result(None)

    async def aclose(self, everybody: bool = False) -> None:
        """Ends everything: tails of operations are drained, for at most the cleanup clock. If
        ``everybody`` leaves, calls that somebody still waits for are cancelled as well."""
        forget(self)
        self._closed = True
        for target in self.engine.live(self):
            target.leave(everybody)
        self.flush()
        if self.engine.live(self):
            self._idle = self.loop.create_future()
            await asyncio.wait([self._idle], timeout=CLEANUP_CLOCK)
        if self.engine.live(self):
            from .undertaker import bury

            bury(self)
        self.clock.stop()
        https, self._https = list(self._https.values()), {}
        for http in https:
            await http.aclose()

    def orphaned(self) -> None:
        """The loop was closed without a word: what hangs on it is closed as well, from any thread."""
        if self._closed or self.engine is not engine():  # a fork's parent has it
            return
        self._closed = self._flushing = True  # nothing asks the loop any more
        forget(self)
        self.outbox.clear()
        for task in list(self.tasks):
            put_away(task)
        for http in self._https.values():
            http.abandon()
        close_sockets(self.loop)
        hand_over(self)


#: By loop: the loop itself is the key, so that the number of a dead one is never mistaken for another's.
_drivers: dict[asyncio.AbstractEventLoop, Driver] = {}
#: Drivers of a parent process. Freeing them would touch descriptors that both processes share.
_inherited: list[dict[asyncio.AbstractEventLoop, Driver]] = []


def running() -> Driver:
    """The driver of the running loop."""
    loop = _loop()
    driver = _drivers.get(loop)
    if driver is None:
        load()
        _sweep()
        driver = _drivers[loop] = Driver(loop)
        driver.guard()
    return driver


def _loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        pass
    raise RuntimeError(
        "no asyncio event loop runs here: use agent_sandbox.sync; with trio, in a thread (trio.to_thread.run_sync)"
    )


def forget(driver: Driver) -> None:
    """The loop ends; should it go on, it gets a new driver."""
    if _drivers.get(driver.loop) is driver:
        del _drivers[driver.loop]


def _sweep() -> None:
    """Loops that were closed without a word, and did not let go of their timers."""
    for loop, driver in list(_drivers.items()):
        if loop.is_closed():
            driver.orphaned()


def _forked() -> None:
    if _drivers:
        _inherited.append(_drivers.copy())
        _drivers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
