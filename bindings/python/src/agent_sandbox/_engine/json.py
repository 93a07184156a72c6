"""JSON as it crosses to the core."""

from __future__ import annotations

from json import JSONDecoder, JSONEncoder
from typing import Any

_encode = JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_decode = JSONDecoder().decode


def encode(value: Any) -> bytes:
    """The UTF-8 text of a value. Raises ValueError or TypeError for what JSON cannot say."""
    return _encode(value).encode()


def decode(text: bytes) -> Any:
    """The value of a text; None for none."""
    return _decode(text.decode()) if text else None
