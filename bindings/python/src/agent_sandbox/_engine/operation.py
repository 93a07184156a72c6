"""One live operation of the core, and what its caller can see of it.

Everything here runs on the driver's loop, but for what a consumer calls: Reader.take, wait lists and
the fields that they read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterable, Callable
from typing import TYPE_CHECKING, Any

from . import frame
from .exchange import Exchange
from .gathered import Gathered
from .input import Input
from .json import decode
from .memory import give_back
from .stored import Stored
from .timer import Timer
from .websocket import WebSocket
from .whole import Whole

if TYPE_CHECKING:
    from .driver import Driver
    from .source import Source

#: Channels of output beside STDOUT, STDERR and PTY: bytes of a file.
BODY = 0

#: A consumer that has so many bytes before it makes the operation read no further.
_LIMIT = 1 << 20

#: Wakes somebody who waits. Called once.
Waker = Callable[[], object]

#: What becomes of output: everything is kept, or it waits until it is taken, or nobody wants it.
KEEP, QUEUE, DROP = "keep", "queue", "drop"

_FAILED = b'{"code":"E9000","message":"the host could not do what the core ordered"}'

_OUTPUT = frozenset((frame.STDOUT, frame.STDERR, frame.PTY, frame.MESSAGES, frame.OBJECT))


class Operation:
    """See the module. ``transport`` is (proxy, ca_file)."""

    def __init__(
        self,
        driver: Driver,
        transport: tuple[str | None, str | None],
        *,
        output: str = DROP,
        bounded: bool = False,
        patient: bool = False,
        sources: dict[int, Source] | None = None,
        input: AsyncIterable[bytes] | None = None,
    ) -> None:
        self.driver = driver
        self.op = 0
        self.payload = b""  #: of its CALL, until it has begun
        self.transport = transport
        self.output = output
        self.bounded = bounded or output == QUEUE
        self.patient = patient  #: nobody looks at anything before the end
        self.gathered: Gathered | None = None  #: the output of one that has no blocks
        self.sources = sources or {}
        self.raised: BaseException | None = None  #: by what the caller gave to read from
        self.pid: int | None = None
        self.started = False
        self.blocks: list[tuple[int, bytes]] | deque[tuple[int, bytes]] = deque() if output == QUEUE else []
        self.events: deque[Any] = deque()
        self.pulls: deque[Any] = deque()  #: requests to the caller's thread
        self.outcome: tuple[int, bytes] | None = None  #: (RESULT or ERROR, payload)
        self.done = False
        self.left = False  #: the caller wants no more of it
        self.followed = False  #: nobody waits for the call itself
        self.muted = False
        self.waiters: list[Waker] = []  #: for anything
        self.settlers: list[Waker] = []  #: for the outcome
        self.enders: list[Waker] = []  #: for DONE
        self.produced = 0
        self.consumed = 0
        self.paused = False
        self._streams: dict[int, Any] = {}
        self._whole: Whole | None = None
        self._input = Input(self, input) if input is not None else None

    def gather(self) -> None:
        """Nobody wants blocks of its output, only all of it, or nothing."""
        self.gathered = Gathered(self.output == KEEP)

    # Frames.

    def take(self, stream: int, kind: int, payload: bytes) -> None:
        """One frame from the core."""
        if kind in _OUTPUT:
            self.add(kind, payload)
        else:
            _HANDLERS[kind](self, stream, kind, payload)

    def body(self) -> bytes:
        """Takes the body that was kept: nothing holds it here any more."""
        whole, self._whole = self._whole, None
        if whole is not None:
            return whole.close()
        body = b"".join([block for _, block in self.blocks])
        self.blocks.clear()
        return body

    def add(self, channel: int, block: bytes) -> None:
        """One block of output, or of a file."""
        if self.output == DROP or not block:
            return
        whole = self._whole
        if whole is not None:
            whole.add(block)
            return
        self.blocks.append((channel, block))
        self.produced += len(block)
        if self.waiters:
            self._wake("waiters")
        if self.bounded and not self.paused and self.produced - self.consumed > _LIMIT:
            self.paused = True
            for s in self._streams.values():
                s.pause()

    def whole(self, size: int) -> Whole | None:
        """The memory of a body of that size that is kept, with what has come of it; None where it is not,
        or there is no such memory."""
        if self.output != KEEP or not isinstance(self.blocks, list):
            return None
        if self._whole is None:
            self._whole = Whole.of(size, self.blocks)
        return self._whole

    def fill(self, count: int) -> None:
        """So many bytes came where the whole has its rest."""
        whole = self._whole
        if whole is not None:
            whole.filled(count)

    def resume(self) -> None:
        """The consumer has caught up."""
        if self.paused and self.produced - self.consumed <= _LIMIT // 2:
            self.paused = False
            for s in list(self._streams.values()):
                s.resume()

    def _request(self, stream: int, kind: int, payload: bytes) -> None:
        exchange = self._streams[stream] = Exchange(self, stream)
        exchange.start(*frame.split(payload))

    def _dial(self, stream: int, kind: int, payload: bytes) -> None:
        socket = self._streams[stream] = WebSocket(self, stream)
        socket.start(decode(payload))

    def _set_timer(self, stream: int, kind: int, payload: bytes) -> None:
        timer = self._streams.get(stream)
        if timer is None:
            timer = self._streams[stream] = Timer(self, stream)
        timer.set(frame.number(payload))

    def _call_store(self, stream: int, kind: int, payload: bytes) -> None:
        order, blob = frame.split(payload)
        stored = self._streams.get(stream)
        if stored is None:
            stored = self._streams[stream] = Stored(self, stream)
        stored.order(decode(order), blob)

    def _end_stream(self, stream: int, kind: int, payload: bytes) -> None:
        s = self._streams.pop(stream, None)
        if s is not None:
            s.close()

    def _pass(self, stream: int, kind: int, payload: bytes) -> None:
        s = self._streams.get(stream)
        if s is not None:
            s.take(kind, payload)

    def _event(self, stream: int, kind: int, payload: bytes) -> None:
        event = decode(payload)
        if event["kind"] == "started":
            self.started = True
            self.pid = event.get("pid")
        elif event["kind"] == "watch":
            self.events.append(event["event"])
        else:
            self.add(kind, payload)  # of code: in order with its output
        self._wake("waiters")

    def _settle(self, stream: int, kind: int, payload: bytes) -> None:
        if self.outcome is None:
            self.outcome = (kind, payload)
        self._wake("settlers")
        self._wake("waiters")

    def _done(self, stream: int, kind: int, payload: bytes) -> None:
        self.done = True
        if self.outcome is None:
            self._settle(0, frame.ERROR, b'{"code":"E9000","message":"the core ended the call without a word"}')
        streams, self._streams = self._streams, {}
        for s in streams.values():
            s.close()
        if self._input is not None:
            self._input.close()
        self._wake("enders")

    def _want_input(self, stream: int, kind: int, payload: bytes) -> None:
        if self._input is not None:
            self._input.wanted()

    # What streams call.

    def feed(self, stream: int, kind: int, payload: bytes = b"", linger: bool = False, flushed: bool = False) -> None:
        """Sends a frame to the core; see Driver.feed."""
        if not self.done:
            self.driver.feed(self.op, stream, kind, payload, linger, flushed)

    def over(self, stream: int) -> None:
        """A stream has ended by itself."""
        self._streams.pop(stream, None)

    def pull(self, request: Any) -> None:
        """Asks the caller's thread for something."""
        self.pulls.append(request)
        self._wake("waiters")
        self._wake("settlers")

    # What the caller does.

    def cancel(self, reason: str = "cancel") -> None:
        """The caller leaves: the remote side is told, and the operation served on to its end."""
        self.left = True
        if not self.done and self.op:
            self.driver.feed(self.op, 0, frame.CANCEL, b'{"reason":"%s"}' % reason.encode())
            self.bounded = False
            self.output = DROP if self.output == QUEUE else self.output
            self.consumed = self.produced
            self.resume()

    def discard(self) -> None:
        """Nobody will take what has come, or what still comes."""
        self.output = DROP
        freed = sum(len(block) for _, block in list(self.blocks))
        self.blocks.clear()
        self.events.clear()
        if self.gathered is not None:
            self.gathered.discard()
        self._whole = None
        give_back(freed)

    def wake(self) -> None:
        """The caller has left: whoever waits looks again."""
        self._wake("settlers")
        self._wake("waiters")

    def opened(self) -> None:
        """The body of a bulk answer is on its way to the caller."""
        self.started = True
        self._wake("waiters")

    def fail(self, error: BaseException) -> None:
        """The host could not do what was ordered: the caller gets why, the core is told to end."""
        self.raised = self.raised or error
        if self.op and not self.done:
            self.cancel()
        else:
            self.done = True
        self._settle(0, frame.ERROR, _FAILED)
        if self.done:
            self._wake("enders")

    def leave(self, everybody: bool) -> None:
        """The loop ends: what is followed in the background is followed no more, and if ``everybody``
        leaves, nobody is told of anything any more."""
        if not self.left and self.outcome is None and (self.followed or everybody):
            self.cancel("detach" if self.followed and self.started else "cancel")
        self.muted = everybody

    def abandon(self) -> None:
        """Its loop is closed: nothing is asked of it any more."""
        self.done = self.left = self.muted = True
        self._streams.clear()
        if self._input is not None:
            self._input.abandon()

    def loose_ends(self) -> list[tuple[int, int, bytes]]:
        """Frames that end what it waits for, once nothing can come any more."""
        return [(stream, *s.loose_end()) for stream, s in self._streams.items()]

    def timers(self) -> list[tuple[int, Timer]]:
        """The timers that it has set, with their streams."""
        return [(stream, s) for stream, s in self._streams.items() if isinstance(s, Timer)]

    def inherit(self, stream: int, timer: Timer) -> None:
        """Has a timer of an operation on another loop, which is closed."""
        own = self._streams[stream] = Timer(self, stream)
        own.set(max(1, int((timer.deadline - self.driver.loop.time()) * 1000)))

    def _wake(self, name: str) -> None:
        waiting = getattr(self, name)
        if waiting and not self.muted:
            setattr(self, name, [])
            for wake in waiting:
                wake()


_HANDLERS: dict[int, Callable[[Operation, int, int, bytes], None]] = {
    frame.HTTP_REQUEST: Operation._request,
    frame.HTTP_BODY: Operation._pass,
    frame.HTTP_BODY_END: Operation._pass,
    frame.HTTP_ABORT: Operation._end_stream,
    frame.BODY_TO_HOST: Operation._pass,
    frame.BODY_TO_CORE: Operation._pass,
    frame.WS_DIAL: Operation._dial,
    frame.SEND_TEXT: Operation._pass,
    frame.SEND_BINARY: Operation._pass,
    frame.WS_CLOSE: Operation._end_stream,
    frame.TIMER_SET: Operation._set_timer,
    frame.TIMER_CLEAR: Operation._end_stream,
    frame.STORE: Operation._call_store,
    frame.EVENT: Operation._event,
    frame.RESULT: Operation._settle,
    frame.ERROR: Operation._settle,
    frame.DONE: Operation._done,
    frame.INPUT_WANTED: Operation._want_input,
}


class Reader:
    """Takes the blocks of an operation in order. Several readers see the same when output is kept."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        self._at = 0
        self._taken = 0

    def take(self) -> tuple[int, bytes] | None:
        """The next block; None when there is none yet."""
        operation = self._operation
        blocks = operation.blocks
        if isinstance(blocks, deque):
            if not blocks:
                return None
            item = blocks.popleft()
        else:
            if self._at == len(blocks):
                return None
            item = blocks[self._at]
            self._at += 1
        self._taken += len(item[1])
        return item

    def consumed(self) -> bool:
        """What was taken has been dealt with; tells whether the operation is to go on reading."""
        operation = self._operation
        operation.consumed = max(operation.consumed, self._taken)
        return operation.paused and operation.produced - operation.consumed <= _LIMIT // 2
