"""Terminals of a sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Mapping, Sequence
from typing import Any

from .._engine.async_caller import AsyncCaller
from .._engine.callbacks import Callbacks
from .._engine.send import pieces_of
from .._generated.methods import PtyMethods
from .._generated.params import (
    pty_connect_params,
    pty_create_params,
    pty_send_input_params,
    pty_stream_input_params,
)
from .handle import CommandHandle

OnBytes = Callable[[bytes], Any]


class Pty(AsyncCaller, PtyMethods):
    """Runs interactive terminals in one sandbox."""

    async def create(
        self,
        cols: int = 80,
        rows: int = 24,
        *,
        on_data: OnBytes | None = None,
        argv: Sequence[str] | None = None,
        cwd: str | None = None,
        envs: Mapping[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        retain_output: bool = False,
    ) -> CommandHandle:
        """Starts a terminal. What it shows is bytes: decode it with an incremental decoder, if at all.

        Args:
            cols: Its width in characters.
            rows: Its height in characters.
            on_data: Gets bytes as they come.
            argv: Default: an interactive login shell.
            cwd: Default: the user's home.
            envs: Over the sandbox's own; TERM, LANG and LC_ALL have defaults.
            user: Default: the sandbox's user.
            tag: A name to connect by, instead of the pid.
            timeout: Seconds it may run; 0 = no limit, which is the default.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            retain_output: Keep what it shows, so that iterating gives it from the start.
        """
        wire = pty_create_params(
            cols,
            rows,
            argv=argv,
            cwd=cwd,
            envs=envs,
            user=user,
            tag=tag,
            timeout=timeout,
            idle_timeout=idle_timeout,
            request_timeout=request_timeout,
        )
        return CommandHandle(self, await self._start("pty.create", wire, Callbacks(pty=on_data), retain_output))

    async def connect(
        self,
        pid: int | None = None,
        *,
        tag: str | None = None,
        on_data: OnBytes | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        retain_output: bool = False,
    ) -> CommandHandle:
        """Follows a terminal that is running: what it shows from now on.

        Args:
            pid: Its process id; either this or ``tag``.
            tag: The name that it was started with.
            on_data: Gets bytes as they come.
            timeout: Seconds it may go on running; 0 = no limit, which is the default.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            retain_output: Keep what it shows, so that iterating gives it from the start.

        Raises:
            ExecutionError: E3000, when there is no such process.
        """
        wire = pty_connect_params(
            pid, tag=tag, timeout=timeout, idle_timeout=idle_timeout, request_timeout=request_timeout
        )
        return CommandHandle(self, await self._start("pty.connect", wire, Callbacks(pty=on_data), retain_output))

    async def send_input(
        self,
        pid: int | None = None,
        data: str | bytes = b"",
        *,
        tag: str | None = None,
        request_timeout: float | None = None,
    ) -> None:
        """Types into a terminal.

        Args:
            pid: Its process id; either this or ``tag``.
            data: Text goes as UTF-8.
            tag: The name that it was started with.
            request_timeout: Seconds until the head of an answer; 0 = no limit.
        """
        wire = pty_send_input_params(pid, tag=tag)
        for piece in pieces_of(data):
            await self._send("pty.send_input", wire, piece, request_timeout)

    async def stream_input(self, pid: int | None, pieces: AsyncIterable[bytes], *, tag: str | None = None) -> None:
        """Types pieces into a terminal as they come, in one call.

        Args:
            pid: Its process id; either this or ``tag``.
            pieces: Read as fast as the sandbox takes them.
            tag: The name that it was started with.
        """
        await self._stream("pty.stream_input", pty_stream_input_params(pid, tag=tag), pieces)

    async def _write_to(self, pid: int, data: str | bytes) -> None:
        await self.send_input(pid, data)

    async def _end_of(self, pid: int) -> None:
        await self.send_input(pid, b"\x04")
