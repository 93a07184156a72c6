"""JSON as it crosses to the core."""

from __future__ import annotations

from contextlib import suppress
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


def encode_given(given: Secret[dict[str, Any]]) -> bytes:
    """The same of what a caller gave, by name. Raises InvalidArgumentError, without the value: it may be
    secret."""
    with suppress(TypeError, ValueError, RecursionError):
        return encode(given)
    refused = ((name, _refused(value)) for name, value in given.reveal().items())
    option, reason = next((name, why) for name, why in refused if why is not None)
    from .._generated.errors import InvalidArgumentError

    raise InvalidArgumentError(f"{option} cannot be sent: {reason}", option=option)


def _refused(value: Any) -> str | None:
    """Why JSON cannot say a value."""
    try:
        encode(value)
    except UnicodeEncodeError:
        return "text must be valid Unicode, without lone surrogates"
    except TypeError as error:
        return str(error).removesuffix(" is not JSON serializable") + " is neither text nor a number"
    except (ValueError, RecursionError) as error:
        return str(error)
    return None


def decode(text: bytes) -> Any:
    """The value of a text; None for none."""
    return _decode(text.decode()) if text else None
