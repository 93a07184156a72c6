"""Bytes that go to a running process in one call each."""

from __future__ import annotations

from collections.abc import Iterator

#: A message is at most so large.
_PIECE = 1 << 20


def pieces_of(data: str | bytes | bytearray | memoryview) -> Iterator[bytes]:
    """The pieces of data; one empty piece when there is none."""
    raw = data.encode() if isinstance(data, str) else bytes(data)
    for at in range(0, len(raw) or 1, _PIECE):
        yield raw[at : at + _PIECE]
