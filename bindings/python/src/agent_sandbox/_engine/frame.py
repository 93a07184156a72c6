"""The binary form in which a host and the core speak.

    u32 len | u32 op | u32 stream | u16 kind | u16 flags | payload | zeros up to a multiple of 4

Little-endian. ``len`` is the payload's length without the zeros; ``flags`` is 0. ``op`` names an
operation and is chosen by the host, from 1, never reused while live. ``stream`` names something
inside an operation and is chosen by the core; 0 is the operation itself.

Three forms of payload: JSON (UTF-8), raw bytes, and mixed: ``u32 n | n bytes of JSON | raw bytes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import Struct
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .gathered import Gathered

# Host to core.
CALL = 1
CANCEL = 2
HTTP_HEAD = 3
HTTP_CHUNK = 4
HTTP_END = 5
HTTP_ERROR = 6
HTTP_WANTED = 7
WS_OPEN = 8
WS_TEXT = 9
WS_BINARY = 10
WS_CLOSED = 11
TIMER = 12
STORE_RESULT = 13
INPUT = 14
INPUT_END = 15

# Core to host.
HTTP_REQUEST = 64
HTTP_BODY = 65
HTTP_BODY_END = 66
HTTP_ABORT = 67
BODY_TO_HOST = 68
BODY_TO_CORE = 69
WS_DIAL = 70
SEND_TEXT = 71
SEND_BINARY = 72
WS_CLOSE = 73
TIMER_SET = 74
TIMER_CLEAR = 75
STORE = 76
STDOUT = 77
STDERR = 78
PTY = 79
EVENT = 80
RESULT = 81
ERROR = 82
DONE = 83
INPUT_WANTED = 84
MESSAGES = 85
OBJECT = 86

#: Version of the ABI.
VERSION = 1

_HEADER = Struct("<IIIHH")
_COUNT = Struct("<I")
_PADDING = (b"", b"\0\0\0", b"\0\0", b"\0")

#: No operation.
NOBODY: Mapping[int, Gathered] = MappingProxyType({})

#: One frame as it came: operation, stream, kind, payload.
Frame = tuple[int, int, int, bytes]


def header(op: int, stream: int, kind: int, length: int) -> bytes:
    """The sixteen bytes before a payload of ``length`` bytes."""
    return _HEADER.pack(length, op, stream, kind, 0)


def padding(length: int) -> bytes:
    """The zeros after a payload of ``length`` bytes."""
    return _PADDING[length & 3]


def mixed(json: bytes, raw: bytes = b"") -> bytes:
    """A payload of JSON followed by raw bytes."""
    return _COUNT.pack(len(json)) + json + raw


def split(payload: bytes) -> tuple[bytes, bytes]:
    """A mixed payload taken apart: JSON and raw bytes."""
    n = 4 + _COUNT.unpack_from(payload)[0]
    return payload[4:n], payload[n:]


def number(payload: bytes | memoryview) -> int:
    """A payload that is one u32."""
    return int(_COUNT.unpack_from(payload)[0])


def parse(view: memoryview, gathering: Mapping[int, Gathered] = NOBODY) -> list[Frame]:
    """The frames of a whole buffer. Their payloads are copies, the only ones that are made. Output of
    operations that are ``gathering`` theirs goes there instead."""
    frames: list[Frame] = []
    at, end = 0, len(view)
    unpack = _HEADER.unpack_from
    while at < end:
        length, op, stream, kind, _ = unpack(view, at)
        at += 16
        if STDOUT <= kind <= STDERR and op in gathering:
            gathering[op].add(kind, view[at : at + length])
            at += (length + 3) & ~3
            continue
        frames.append((op, stream, kind, bytes(view[at : at + length])))
        at += (length + 3) & ~3
    return frames
