"""A sandbox that is to be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import Any, Generic, Protocol, TypeVar


class _Killed(Protocol):
    async def __aexit__(self, kind: object, error: object, trace: object) -> None: ...


S = TypeVar("S", bound=_Killed)


class Creation(Generic[S]):
    """``await`` it, or enter it with ``async with``, which ends the sandbox."""

    def __init__(self, make: Callable[[], Awaitable[S]]) -> None:
        self._make = make
        self._made: S | None = None

    def __await__(self) -> Generator[Any, None, S]:
        return self._make().__await__()

    async def __aenter__(self) -> S:
        self._made = await self
        return self._made

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        assert self._made is not None
        await self._made.__aexit__(kind, error, trace)
