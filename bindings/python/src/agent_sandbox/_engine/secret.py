"""Keeps keys and tokens out of tracebacks, also of those that show the local variables of their frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Secret(Generic[T]):
    """Holds a value that nothing shows: neither its repr nor its attributes do. JSON takes it as the
    value that it holds."""

    __slots__ = ("reveal",)

    def __init__(self, value: T) -> None:
        self.reveal: Callable[[], T] = lambda: value

    def __repr__(self) -> str:
        return "Secret(...)"


def taken(options: Any) -> dict[str, Any]:
    """What a dict holds, taken out of it: the frames that have it among their variables show nothing."""
    all: dict[str, Any] = dict(options)
    options.clear()
    return all
