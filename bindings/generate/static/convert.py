"""What both sides of the wire share: records, durations and times."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timezone
from enum import Enum
from typing import Any, ClassVar, TypeVar

from .errors import InvalidArgumentError

Wire = dict[str, Any]
"""A JSON object as it crosses to the core and back."""

T = TypeVar("T")


class Choice(str, Enum):
    """A text with known values. Others survive: they are members without a name of their own."""

    @classmethod
    def _missing_(cls, value: object) -> Choice | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_, unknown._value_ = value.upper(), value
        return unknown

    def __str__(self) -> str:
        return str.__str__(self)

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return type(self), (self._value_,)

    def __format__(self, format_spec: str) -> str:
        return str.__format__(self, format_spec)

    def __hash__(self) -> int:
        return str.__hash__(self)


class Record:
    """A set of named values."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _hidden: ClassVar[frozenset[str]] = frozenset()

    def __repr__(self) -> str:
        shown = (f"{k}={'***' if k in self._hidden else repr(getattr(self, k))}" for k in self._fields)
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, k) == getattr(other, k) for k in self._fields)

    __hash__ = None  # type: ignore[assignment]


def given(name: str, value: Record | Mapping[str, Any], kind: type[Record]) -> Mapping[str, Any]:
    """The fields of a record, or of a mapping with the same names."""
    if isinstance(value, kind):
        return {k: getattr(value, k) for k in kind._fields}
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{name} must be a {kind.__name__} or a dict, not {type(value).__name__}", option=name)
    for key in value:
        if key not in kind._fields:
            raise InvalidArgumentError(f"{name} has no field {key!r}; it has {', '.join(kind._fields)}", option=name)
    return value


def read_list(value: Any, read: Callable[[Any], T]) -> list[T]:
    """Reads a list; an absent one is empty."""
    return [read(one) for one in value or ()]


def read_map(value: Any, read: Callable[[Any], T]) -> dict[str, T]:
    """Reads the values of an object; an absent one is empty."""
    return {key: read(one) for key, one in (value or {}).items()}


def read_maybe(value: Any, read: Callable[[Any], T]) -> T | None:
    """Reads a value that may be absent."""
    return None if value is None else read(value)


def read_time(value: str) -> datetime:
    """Reads an RFC 3339 time in UTC, of any precision."""
    whole, _, fraction = value.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole).replace(microsecond=int(fraction[:6].ljust(6, "0")), tzinfo=timezone.utc)


def read_seconds(value: int) -> float:
    """Reads a duration."""
    return value / 1000


def write_list(name: str, value: Iterable[Any], write: Callable[[Any], Any] | None = None) -> list[Any]:
    """Writes a list. A text is none."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InvalidArgumentError(f"{name} must be a list, not {type(value).__name__}", option=name)
    return list(value) if write is None else [write(one) for one in value]


def write_map(name: str, value: Mapping[str, Any], write: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """Writes the values of an object."""
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{name} must be a dict, not {type(value).__name__}", option=name)
    return dict(value) if write is None else {key: write(one) for key, one in value.items()}


def write_time(name: str, value: datetime) -> str:
    """Writes a time. One without a zone is local time, as everywhere in Python."""
    if not isinstance(value, datetime):
        raise InvalidArgumentError(f"{name} must be a datetime, not {type(value).__name__}", option=name)
    return value.astimezone(timezone.utc).isoformat()


def write_seconds(name: str, value: float) -> int:
    """Writes a duration in whole milliseconds: a part of one counts as one, and what is too long is as
    long as can be said."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value or abs(value) == math.inf:
        raise InvalidArgumentError(f"{name} must be a number of seconds; 0 means none", option=name)
    if value == 0:
        return 0
    exact = math.ceil(round(min(abs(value), 2**53) * 1000, 6)) or 1
    exact = min(exact, 2**53 - 1)
    return exact if value > 0 else -exact
