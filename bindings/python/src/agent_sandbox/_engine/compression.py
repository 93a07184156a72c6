"""Bodies of requests that are compressed on the way."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

#: What makes zlib write gzip's format.
_GZIP = 31


def compressed(data: bytes) -> bytes:
    """A body that is all there."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(data) + packer.flush()


def compressing(body: Any) -> Any:
    """A body with a source, packed piece by piece."""
    if isinstance(body, bytes):
        return (b"", _packed((body[at : at + _PIECE] for at in range(0, len(body), _PIECE)), None, b""), b"", None)
    prefix, source, suffix, _ = body
    return (b"", _packed([prefix], source, suffix), b"", None)


#: A long body is packed in pieces, so that the loop does something else in between.
_PIECE = 256 << 10


async def _packed(before: Any, source: AsyncIterable[bytes] | None, after: bytes) -> AsyncIterator[bytes]:
    packer = zlib.compressobj(wbits=_GZIP)
    for piece in before:
        yield packer.compress(piece)
    if source is not None:
        async for piece in source:
            yield packer.compress(piece)
    yield packer.compress(after) + packer.flush()
