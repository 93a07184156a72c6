"""Bytes that go to a running process in one call each."""

from __future__ import annotations

from collections.abc import Iterator

#: A message is at most so large.
_PIECE = 1 << 20


def pieces_of(data: str | bytes | bytearray | memoryview) -> Iterator[bytes]:
    """The pieces of data; one empty piece when there is none."""
    raw = _bytes(data)
    for at in range(0, len(raw) or 1, _PIECE):
        yield raw[at : at + _PIECE]


def _bytes(data: str | bytes | bytearray | memoryview) -> bytes:
    from .._generated.errors import InvalidArgumentError

    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    if not isinstance(data, str):
        raise InvalidArgumentError(f"data must be text or bytes, not {type(data).__name__}", option="data")
    try:
        return data.encode()
    except UnicodeEncodeError:
        pass
    words = "data cannot be sent: text must be valid Unicode, without lone surrogates"
    raise InvalidArgumentError(words, option="data")
