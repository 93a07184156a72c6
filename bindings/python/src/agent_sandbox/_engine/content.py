"""What a caller may give as the contents of a file."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import IO, Any

from .operation import Operation
from .source import Memory, Source
from .sync_source import Reads

#: Bytes, text (as UTF-8), a path of a file here, an open file, or pieces of either.
SyncContent = str | bytes | bytearray | memoryview | os.PathLike[str] | IO[Any] | Iterable[bytes] | Iterable[str]
#: The same, and pieces that come asynchronously.
AsyncContent = SyncContent | AsyncIterable[bytes] | AsyncIterable[str]

#: Files are read in pieces of so many bytes.
_PIECE = 1 << 20

#: Bytes up to this size cross to the core with the call; more go past it.
SMALL = 64 << 10


def sync_source(data: Any) -> bytes | Source:
    """Bytes where they are at hand, else a source that the calling thread reads."""
    known = _bytes(data)
    if known is not None:
        return known
    pieces = _pieces(data, blocking=False)
    return Source(lambda operation: Reads(pieces.open, operation), pieces.size, pieces.replayable)


def async_source(data: Any) -> bytes | Source:
    """Bytes where they are at hand, else a source that is read on the loop; files in a thread."""
    known = _bytes(data)
    if known is not None:
        return known
    if hasattr(data, "__aiter__"):
        return Source(lambda operation: _encoded(data), None, False)
    pieces = _pieces(data, blocking=True)
    return Source(lambda operation: _stepped(operation, pieces), pieces.size, pieces.replayable)


def memory(data: bytes) -> Source:
    """Bytes as a source."""
    return Memory(data)


def _bytes(data: Any) -> bytes | None:
    if isinstance(data, bytes):
        return data
    if isinstance(data, str):
        return _encode(data)
    if isinstance(data, (bytearray, memoryview)):
        return bytes(data)
    return None


def _encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise _unusable("text must be valid Unicode, without lone surrogates") from None


def _unusable(reason: str) -> Exception:
    from .._generated.errors import InvalidArgumentError

    return InvalidArgumentError(f"data: {reason}", option="data")


class _Pieces:
    """Data that is read in steps, each of which may take its time when ``slow``."""

    def __init__(self, open: Callable[[], Iterable[bytes]], size: int | None, replayable: bool, slow: bool) -> None:
        self.open = open
        self.size = size
        self.replayable = replayable
        self.slow = slow


def _pieces(data: Any, blocking: bool) -> _Pieces:
    if isinstance(data, os.PathLike):
        return _path(data, blocking)
    if hasattr(data, "read"):
        return _file(data, blocking)
    if isinstance(data, Iterable) and not isinstance(data, Mapping):  # whose keys would be written
        return _Pieces(lambda: map(_piece, data), None, isinstance(data, (list, tuple)), slow=False)
    raise _unusable(f"give str, bytes, a Path, a file object or an iterable of pieces, not {type(data).__name__}")


def _piece(piece: Any) -> bytes:
    known = _bytes(piece)
    if known is None:
        raise _unusable(f"a piece must be bytes or str, not {type(piece).__name__}")
    return known


def _path(path: os.PathLike[str], blocking: bool) -> _Pieces:
    info = os.stat(path)
    regular = stat.S_ISREG(info.st_mode)
    if stat.S_ISDIR(info.st_mode):
        raise _unusable(f"{os.fspath(path)} is a directory")

    def read() -> Iterator[bytes]:
        with open(path, "rb", buffering=0) as file:
            yield from _read(file, info.st_size if regular else None)

    return _Pieces(read, info.st_size if regular else None, regular, slow=blocking)


def _file(file: Any, blocking: bool) -> _Pieces:
    text = isinstance(file, io.TextIOBase)
    slow = blocking and not isinstance(file, (io.BytesIO, io.StringIO))
    start, size = _extent(file)
    if start is None:
        return _Pieces(lambda: _read(file, None), None, False, slow)

    def read() -> Iterator[bytes]:
        file.seek(start)
        return _read(file, None if text else size)

    return _Pieces(read, None if text else size, True, slow)


def _extent(file: Any) -> tuple[int | None, int | None]:
    """Where a file stands and how much is left; nothing for one that can be read once only."""
    try:
        if not file.seekable() or not _regular(file):
            return None, None
        start = file.tell()
        if isinstance(file, io.TextIOBase):
            return start, None
        end = file.seek(0, io.SEEK_END)
        file.seek(start)
    except (AttributeError, OSError, ValueError):
        return None, None
    return start, max(end - start, 0)


def _regular(file: Any) -> bool:
    """A seek on a device succeeds and means nothing."""
    try:
        descriptor = file.fileno()
    except (AttributeError, OSError):
        return True
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _read(file: Any, size: int | None) -> Iterator[bytes]:
    left = size
    while left is None or left > 0:
        piece = file.read(_PIECE if left is None else min(_PIECE, left))
        if not piece:
            return
        data = _piece(piece)
        if left is not None:
            left -= len(data)
        yield data


async def _encoded(pieces: AsyncIterable[Any]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield _piece(piece)


async def _stepped(operation: Operation, pieces: _Pieces) -> AsyncIterator[bytes]:
    loop = operation.driver.loop
    iterator = iter(pieces.open())
    while True:
        piece = await loop.run_in_executor(None, next, iterator, None) if pieces.slow else next(iterator, None)
        if piece is None:
            return
        yield piece
