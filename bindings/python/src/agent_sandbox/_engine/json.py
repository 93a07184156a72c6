"""JSON as it crosses to the core."""

from __future__ import annotations

from json import JSONDecoder, JSONEncoder
from typing import Any

from .secret import Secret


def _reveal(value: Any) -> Any:
    if isinstance(value, Secret):
        return value.reveal()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


_encode = JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_reveal).encode
_decode = JSONDecoder().decode


def encode(value: Any) -> bytes:
    """The UTF-8 text of a value. Raises ValueError or TypeError for what JSON cannot say."""
    return _encode(value).encode()


def encode_given(what: str, value: Any) -> bytes:
    """The same of what a caller gave. Raises InvalidArgumentError, without the value: it may be secret."""
    try:
        return encode(value)
    except UnicodeEncodeError:
        reason = "text must be valid Unicode, without lone surrogates"
    except (TypeError, ValueError, RecursionError) as error:
        reason = str(error)
    from .._generated.errors import InvalidArgumentError

    raise InvalidArgumentError(f"{what} cannot be sent: {reason}")


def decode(text: bytes) -> Any:
    """The value of a text; None for none."""
    return _decode(text.decode()) if text else None
