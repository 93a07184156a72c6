"""Request bodies, sent as fast as the connection takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable
from typing import Protocol

from .request import CHUNKED

_SLICE = 256 << 10  # of a long body, handed to the connection at once
_TURN = 8  # slices, or small pieces, before the loop does something else
_SMALL = 64 << 10  # a body up to this goes out with its head
_LAST_CHUNK = b"0\r\n\r\n"


class Pieces:
    """A body that the driver sends piece by piece, as ``wanted`` asks for them."""


PIECES = Pieces()

Source = tuple[bytes, AsyncIterable[bytes], bytes, "int | None"]
"""Prefix, what lies between, suffix, and the length of all three or None."""

Body = bytes | Source | Pieces | None


class Sink(Protocol):
    """Where an upload writes to: an exchange with its connection."""

    def write(self, *pieces: bytes | memoryview) -> None:
        """Sends bytes, however many wait already."""

    @property
    def full(self) -> bool:
        """Whether enough bytes wait; ``room`` is called when they have gone."""

    def wanted(self) -> None:
        """Asks the driver for a piece, soon."""

    def soon(self, call: Callable[[], None]) -> None:
        """Calls from the loop, after whatever else is ready."""

    def spawn(self, upload: SourceUpload) -> asyncio.Task[None]:
        """Runs the upload as a task."""

    def source_failed(self, error: BaseException) -> None:
        """The source of the body failed."""


class Upload:
    """A body without bytes, and what all bodies have in common."""

    length: int | None = None
    done = False
    """Whether every byte was handed to the connection."""

    def start(self, sink: Sink, head: bytes) -> None:
        """Sends the head and begins with the body."""
        sink.write(head)
        self.done = True

    def room(self) -> None:
        """The connection takes bytes again."""

    def stop(self) -> None:
        """Sends nothing more."""


class BytesUpload(Upload):
    """A body that is all there."""

    def __init__(self, data: bytes) -> None:
        self.length = len(data)
        self._rest = memoryview(data)
        self._sink: Sink | None = None

    def start(self, sink: Sink, head: bytes) -> None:
        if len(self._rest) <= _SMALL:
            sink.write(head, self._rest)
            self.done = True
            return
        self._sink = sink
        sink.write(head)
        self.room()

    def room(self) -> None:
        for _ in range(_TURN):
            if not self._sink or self._sink.full:
                return
            piece, self._rest = self._rest[:_SLICE], self._rest[_SLICE:]
            self._sink.write(piece)
            if not len(self._rest):
                self.done = True
                self._sink = None
                return
        if self._sink:
            self._sink.soon(self.room)

    def stop(self) -> None:
        self._sink = None
        self._rest = memoryview(b"")


class SourceUpload(Upload):
    """A body that is read while it is sent. A source that gives more or fewer bytes
    than were announced has failed.
    """

    def __init__(self, source: Source) -> None:
        self._prefix, self._source, self._suffix, length = source
        self.length = CHUNKED if length is None else length
        self._chunked = length is None
        self._left = length or 0
        self._turn = 0
        self._task: asyncio.Task[None] | None = None
        self._space: asyncio.Future[None] | None = None

    def start(self, sink: Sink, head: bytes) -> None:
        self._sink = sink
        sink.write(head)
        self._send(self._prefix)
        self._task = sink.spawn(self)

    def room(self) -> None:
        if self._space and not self._space.done():
            self._space.set_result(None)

    def stop(self) -> None:
        if self._task:
            self._task.cancel()

    async def run(self) -> None:
        """Sends everything; errors go to the sink."""
        try:
            await self._all()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # whatever it is, it is the caller's
            self._task = None
            self._sink.source_failed(error)

    async def _all(self) -> None:
        try:
            async for piece in self._source:
                for part in _slices(piece):
                    await self._wait()
                    self._send(part)
        finally:
            await _close(self._source)
        await self._wait()
        self._send(self._suffix)
        if self._chunked:
            self._sink.write(_LAST_CHUNK)
        elif self._left:
            raise ValueError(f"the source of the body gave {self._left} bytes less than it announced")
        self.done = True

    async def _wait(self) -> None:
        self._turn = (self._turn + 1) % _TURN
        if not self._turn:
            await asyncio.sleep(0)  # neither source nor connection may ever wait
        while self._sink.full:
            self._space = asyncio.get_running_loop().create_future()
            await self._space

    def _send(self, piece: bytes | memoryview) -> None:
        if not len(piece):
            return
        if self._chunked:
            self._sink.write(*_chunk(piece))
            return
        self._left -= len(piece)
        if self._left < 0:
            raise ValueError("the source of the body gave more bytes than it announced")
        self._sink.write(piece)


class PiecesUpload(Upload):
    """A body that the driver sends."""

    length = CHUNKED

    def start(self, sink: Sink, head: bytes) -> None:
        self._sink: Sink | None = sink
        sink.write(head)
        sink.wanted()

    def send(self, piece: bytes) -> None:
        """Sends one piece."""
        if not self._sink:
            return
        if len(piece):
            self._sink.write(*_chunk(piece))
        if not self._sink.full:
            self._sink.wanted()
        else:
            self._waits = True

    _waits = False

    def room(self) -> None:
        if self._waits and self._sink:
            self._waits = False
            self._sink.wanted()

    def end(self) -> None:
        """The body is complete."""
        if self._sink and not self.done:
            self._sink.write(_LAST_CHUNK)
            self.done = True
            self._sink = None

    def stop(self) -> None:
        self._sink = None


def upload(body: Body) -> Upload:
    """The upload of a body."""
    if body is None:
        return Upload()
    if isinstance(body, Pieces):
        return PiecesUpload()
    if isinstance(body, tuple):
        return SourceUpload(body)
    return BytesUpload(body)


def _chunk(piece: bytes | memoryview) -> tuple[bytes | memoryview, ...]:
    return b"%x\r\n" % len(piece), piece, b"\r\n"


def _slices(piece: bytes) -> list[bytes | memoryview]:
    if len(piece) <= _SLICE:
        return [piece]
    view = memoryview(piece)
    return [view[i : i + _SLICE] for i in range(0, len(view), _SLICE)]


async def _close(source: AsyncIterable[bytes]) -> None:
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
