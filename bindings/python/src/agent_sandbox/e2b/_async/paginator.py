"""Lists of sandboxes, page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator

from ..._async.paginator import SandboxPaginator as Own
from ..exceptions import of_account
from ..info import SandboxInfo


class AsyncSandboxPaginator:
    """The sandboxes of an account, a page at a time."""

    def __init__(self, own: Own) -> None:
        self._own = own

    @property
    def has_next(self) -> bool:
        """Whether there is another page."""
        return self._own.has_next

    @property
    def next_token(self) -> str | None:
        """Names the next page to ``list``; None after the last."""
        return self._own.next_token or None

    async def next_items(self) -> list[SandboxInfo]:
        """The next page. Raises when there is none."""
        with of_account():
            return [SandboxInfo(one) for one in await self._own.next_items()]

    async def __aiter__(self) -> AsyncIterator[SandboxInfo]:
        while self.has_next:
            for info in await self.next_items():
                yield info
