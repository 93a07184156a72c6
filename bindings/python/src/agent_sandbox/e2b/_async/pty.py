"""Terminals of a sandbox."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..._async.pty import Pty as Own
from ..exceptions import of_process, of_sandbox
from ..info import PtySize
from ..options import endless
from .handle import AsyncCommandHandle

if TYPE_CHECKING:
    from collections.abc import Iterable  # noqa: F401 (of the twin)

    from ..input import AsyncCommandInputHandle


class Pty:
    """Runs interactive terminals in one sandbox."""

    def __init__(self, own: Own) -> None:
        self._own = own

    async def create(
        self,
        size: PtySize,
        # async only
        on_data: Callable[[bytes], Any] | None = None,
        # end
        user: str | None = None,
        cwd: str | None = None,
        envs: dict[str, str] | None = None,
        timeout: float | None = 60,
        request_timeout: float | None = None,
    ) -> AsyncCommandHandle:
        """Starts a login shell in a terminal.

        Args:
            size: In characters.
            on_data: Gets bytes as they come.
            user: Default: the sandbox's user.
            cwd: Default: the user's home.
            envs: Over the sandbox's own.
            timeout: Seconds it may run; 0 or None = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
        """
        with of_sandbox():
            own = await self._own.create(
                size.cols,
                size.rows,
                # async only
                on_data=on_data,
                # end
                user=user,
                cwd=cwd,
                envs=envs,
                timeout=endless(timeout),
                request_timeout=request_timeout,
            )
        return AsyncCommandHandle(own, True)

    async def connect(
        self,
        pid: int,
        # async only
        on_data: Callable[[bytes], Any] | None = None,
        # end
        timeout: float | None = 60,
        request_timeout: float | None = None,
    ) -> AsyncCommandHandle:
        """Follows a terminal that is running.

        Args:
            pid: Its process id.
            on_data: Gets bytes as they come.
            timeout: Seconds it may go on running; 0 or None = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.

        Raises:
            NotFoundException: There is no such process.
        """
        with of_process():
            own = await self._own.connect(
                pid,
                # async only
                on_data=on_data,
                # end
                timeout=endless(timeout),
                request_timeout=request_timeout,
            )
        return AsyncCommandHandle(own, True)

    async def kill(self, pid: int, request_timeout: float | None = None) -> bool:
        """Ends a terminal with SIGKILL; False when there is none of that pid."""
        with of_sandbox():
            return await self._own.kill(pid, request_timeout=request_timeout)

    async def send_stdin(self, pid: int, data: bytes, request_timeout: float | None = None) -> None:
        """Types into a terminal."""
        with of_process():
            await self._own.send_input(pid, data, request_timeout=request_timeout)

    async def resize(self, pid: int, size: PtySize, request_timeout: float | None = None) -> None:
        """Tells a terminal its size."""
        with of_process():
            await self._own.resize(pid, cols=size.cols, rows=size.rows, request_timeout=request_timeout)

    # async only
    def stream_input(self, pid: int, *, timeout: float | None = 60.0) -> AsyncCommandInputHandle:
        """Types into a terminal piece by piece, in one call. ``timeout`` changes nothing."""
        from ..input import AsyncCommandInputHandle

        return AsyncCommandInputHandle(lambda pieces: self._own.stream_input(pid, pieces))

    # sync: def stream_input(self, pid: int, data: Iterable[str | bytes], *, timeout: float | None = 60.0) -> None:
    # sync:     """Types into a terminal piece by piece, in one call. ``timeout`` changes nothing."""
    # sync:     with of_process():
    # sync:         self._own.stream_input(pid, (one.encode() if isinstance(one, str) else one for one in data))

    # end
