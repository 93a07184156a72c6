"""Commands of a sandbox."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

from ..._async.commands import Commands as Own
from ..exceptions import of_process, of_sandbox
from ..info import ProcessInfo
from ..options import endless
from ..result import CommandResult, checked
from .handle import AsyncCommandHandle

if TYPE_CHECKING:
    from collections.abc import Iterable  # noqa: F401 (of the twin)

    from ..input import AsyncCommandInputHandle

OnText = Callable[[str], Any]


class Commands:
    """Runs commands in one sandbox."""

    def __init__(self, own: Own) -> None:
        self._own = own

    async def list(self, request_timeout: float | None = None) -> builtins.list[ProcessInfo]:
        """The running commands and terminals."""
        with of_sandbox():
            return await self._own.list(request_timeout=request_timeout)

    async def kill(self, pid: int, request_timeout: float | None = None) -> bool:
        """Ends a process with SIGKILL; False when there is none of that pid."""
        with of_sandbox():
            return await self._own.kill(pid, request_timeout=request_timeout)

    async def send_stdin(self, pid: int, data: str | bytes, request_timeout: float | None = None) -> None:
        """Writes to a command's stdin, which ``stdin=True`` has left open."""
        with of_process():
            await self._own.send_stdin(pid, data, request_timeout=request_timeout)

    async def close_stdin(self, pid: int, request_timeout: float | None = None) -> None:
        """Ends a command's stdin."""
        with of_process():
            await self._own.close_stdin(pid, request_timeout=request_timeout)

    # async only
    def stream_input(self, pid: int, *, timeout: float | None = 60.0) -> AsyncCommandInputHandle:
        """Writes to a command's stdin piece by piece, in one call. ``timeout`` changes nothing."""
        from ..input import AsyncCommandInputHandle

        return AsyncCommandInputHandle(lambda pieces: self._own.stream_stdin(pid, pieces))

    # sync: def stream_input(self, pid: int, data: Iterable[str | bytes], *, timeout: float | None = 60.0) -> None:
    # sync:     """Writes to a command's stdin piece by piece, in one call. ``timeout`` changes nothing."""
    # sync:     with of_process():
    # sync:         self._own.stream_stdin(pid, (one.encode() if isinstance(one, str) else one for one in data))

    # end
    @overload
    async def run(
        self,
        cmd: str,
        background: Literal[False] | None = None,
        envs: dict[str, str] | None = None,
        user: str | None = None,
        cwd: str | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        stdin: bool | None = None,
        timeout: float | None = 60,
        request_timeout: float | None = None,
        *,
        retain_output: bool = True,
    ) -> CommandResult: ...

    @overload
    async def run(
        self,
        cmd: str,
        background: Literal[True],
        envs: dict[str, str] | None = None,
        user: str | None = None,
        cwd: str | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        stdin: bool | None = None,
        timeout: float | None = 60,
        request_timeout: float | None = None,
        *,
        retain_output: bool = True,
    ) -> AsyncCommandHandle: ...

    async def run(
        self,
        cmd: str,
        background: bool | None = None,
        envs: dict[str, str] | None = None,
        user: str | None = None,
        cwd: str | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        stdin: bool | None = None,
        timeout: float | None = 60,
        request_timeout: float | None = None,
        *,
        retain_output: bool = True,
    ) -> CommandResult | AsyncCommandHandle:
        """Runs shell text and waits for its end; with ``background``, until it has started.

        Args:
            cmd: Shell text.
            background: Give a handle as soon as it runs.
            envs: Over the sandbox's own.
            user: Default: the sandbox's user.
            cwd: Default: the user's home.
            on_stdout: Gets text as it comes.
            on_stderr: The same of stderr.
            stdin: Leave stdin open for ``send_stdin``.
            timeout: Seconds it may run, in the background too; 0 or None = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            retain_output: Keep the output for the result.

        Raises:
            CommandExitException: It did not exit with 0.
            TimeoutException: It ran out of time.
        """
        given: dict[str, Any] = {
            "envs": envs,
            "user": user,
            "cwd": cwd,
            "on_stdout": on_stdout,
            "on_stderr": on_stderr,
            "stdin": stdin,
            "timeout": endless(timeout),
            "request_timeout": request_timeout,
            "retain_output": retain_output,
        }
        with of_sandbox():
            if background:
                return AsyncCommandHandle(await self._own.run(cmd, background=True, **given), retain_output)
            return checked(await self._own.run(cmd, **given), retain_output)

    async def connect(
        self,
        pid: int,
        timeout: float | None = 60,
        request_timeout: float | None = None,
        # async only
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        # end
        *,
        retain_output: bool = True,
    ) -> AsyncCommandHandle:
        """Follows a command that is running.

        Args:
            pid: Its process id.
            timeout: Seconds it may go on running; 0 or None = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            on_stdout: Gets text as it comes.
            on_stderr: The same of stderr.
            retain_output: Keep the output for the result.

        Raises:
            NotFoundException: There is no such process.
        """
        with of_process():
            own = await self._own.connect(
                pid,
                timeout=endless(timeout),
                request_timeout=request_timeout,
                # async only
                on_stdout=on_stdout,
                on_stderr=on_stderr,
                # end
                retain_output=retain_output,
            )
        return AsyncCommandHandle(own, retain_output)
