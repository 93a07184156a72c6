"""Lists of sandboxes, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from .._engine.async_caller import AsyncCaller
from .._engine.link import Link
from .._generated.types import SandboxInfo, read_sandbox_page


class SandboxPaginator(AsyncCaller):
    """The sandboxes of an account. Iterate over it, or take a page at a time. The first page is fetched
    when it is asked for."""

    def __init__(self, link: Link, wire: dict[str, Any]) -> None:
        super().__init__(link)
        self._wire = wire
        self._fetched = False
        self._next = str(wire.get("next_token") or "")

    def __repr__(self) -> str:
        return f"SandboxPaginator(has_next={self.has_next})"

    @property
    def has_next(self) -> bool:
        """Whether there is another page."""
        return not self._fetched or self._next != ""

    @property
    def next_token(self) -> str:
        """Names the next page to :meth:`Sandbox.list`; empty after the last."""
        return self._next

    async def next_items(self) -> list[SandboxInfo]:
        """The next page.

        Raises:
            InvalidArgumentError: E8000, after the last one.
        """
        if not self.has_next:
            from .._generated.errors import InvalidArgumentError

            raise InvalidArgumentError("there is no further page")
        wire = {**self._wire, "next_token": self._next} if self._next else self._wire
        page = read_sandbox_page(await self._call_anew("sandbox.list", wire))
        self._fetched, self._next = True, page.next_token or ""
        return list(page.items)

    async def __aiter__(self) -> AsyncIterator[SandboxInfo]:
        while self.has_next:
            for info in await self.next_items():
                yield info
