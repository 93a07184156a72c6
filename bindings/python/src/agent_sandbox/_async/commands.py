"""Commands of a sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload

from .._engine.async_caller import AsyncCaller
from .._engine.callbacks import Callbacks
from .._engine.send import pieces_of
from .._generated.methods import CommandsMethods
from .._generated.params import (
    commands_connect_params,
    commands_run_params,
    commands_send_stdin_params,
    commands_start_params,
    commands_stream_stdin_params,
)
from ..result import CommandResult
from .handle import CommandHandle

OnText = Callable[[str], Any]
OnBytes = Callable[[bytes], Any]
OnStart = Callable[[int], Any]


class Commands(AsyncCaller, CommandsMethods):
    """Runs commands in one sandbox."""

    @overload
    async def run(
        self,
        command: str | Sequence[str],
        *,
        background: Literal[False] = False,
        cwd: str | None = None,
        envs: Mapping[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        stdin: bool | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        check: bool | None = None,
        retain_output: bool = True,
        on_start: OnStart | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        on_stdout_bytes: OnBytes | None = None,
        on_stderr_bytes: OnBytes | None = None,
    ) -> CommandResult: ...

    @overload
    async def run(
        self,
        command: str | Sequence[str],
        *,
        background: Literal[True],
        cwd: str | None = None,
        envs: Mapping[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        stdin: bool | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        check: bool | None = None,
        retain_output: bool = True,
        on_start: OnStart | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        on_stdout_bytes: OnBytes | None = None,
        on_stderr_bytes: OnBytes | None = None,
    ) -> CommandHandle: ...

    @overload
    async def run(
        self,
        command: str | Sequence[str],
        *,
        background: bool,
        cwd: str | None = None,
        envs: Mapping[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        stdin: bool | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        check: bool | None = None,
        retain_output: bool = True,
        on_start: OnStart | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        on_stdout_bytes: OnBytes | None = None,
        on_stderr_bytes: OnBytes | None = None,
    ) -> CommandResult | CommandHandle: ...

    async def run(
        self,
        command: str | Sequence[str],
        *,
        background: bool = False,
        cwd: str | None = None,
        envs: Mapping[str, str] | None = None,
        user: str | None = None,
        tag: str | None = None,
        stdin: bool | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        check: bool | None = None,
        retain_output: bool = True,
        on_start: OnStart | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        on_stdout_bytes: OnBytes | None = None,
        on_stderr_bytes: OnBytes | None = None,
    ) -> CommandResult | CommandHandle:
        """Runs a command and waits for its end; with ``background``, until it has started.

        Leaving a foreground run (a cancelled task, an exception of a callback, Ctrl-C) kills it. Callbacks
        run one at a time, in the order of the output, and output waits while one runs.

        Args:
            command: Shell text (bash, as a login shell), or a list of arguments without a shell.
            background: Give a handle as soon as it runs, and no timeout unless one is given.
            cwd: Default: the user's home.
            envs: Over the sandbox's own.
            user: Default: the sandbox's user.
            tag: A name to connect by, instead of the pid.
            stdin: Leave stdin open for ``send_stdin``; otherwise it is /dev/null.
            timeout: Seconds the command may run; 0 = no limit. Default: 60 in the foreground.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            check: Raise CommandExitError for an exit other than 0.
            retain_output: Keep the output for the result; callbacks get it anyway.
            on_start: Gets the pid.
            on_stdout: Gets text, in whole characters.
            on_stderr: The same of stderr.
            on_stdout_bytes: Gets bytes as they come.
            on_stderr_bytes: The same of stderr.

        Raises:
            CommandTimeoutError: E3001, with the output so far in ``partial``.
            ConnectionLostError: E3005, the outcome is not known.
            CommandExitError: E3002, with ``check``.
        """
        callbacks = Callbacks(
            start=on_start,
            stdout=on_stdout,
            stderr=on_stderr,
            stdout_bytes=on_stdout_bytes,
            stderr_bytes=on_stderr_bytes,
        )
        text, argv = _line(command)
        params = commands_start_params if background else commands_run_params
        wire = params(
            text,
            argv=argv,
            cwd=cwd,
            envs=envs,
            user=user,
            tag=tag,
            stdin=stdin,
            timeout=timeout,
            idle_timeout=idle_timeout,
            request_timeout=request_timeout,
            check=check,
        )
        if not background:
            return await self._run("commands.run", wire, callbacks, retain_output)
        return CommandHandle(self, await self._start("commands.start", wire, callbacks, retain_output))

    async def connect(
        self,
        pid: int | None = None,
        *,
        tag: str | None = None,
        timeout: float | None = None,
        idle_timeout: float | None = None,
        request_timeout: float | None = None,
        check: bool | None = None,
        retain_output: bool = True,
        on_start: OnStart | None = None,
        on_stdout: OnText | None = None,
        on_stderr: OnText | None = None,
        on_stdout_bytes: OnBytes | None = None,
        on_stderr_bytes: OnBytes | None = None,
        on_data: OnBytes | None = None,
    ) -> CommandHandle:
        """Follows a command that is running: output from now on.

        Args:
            pid: Its process id; either this or ``tag``.
            tag: The name that it was started with.
            timeout: Seconds it may go on running; 0 = no limit, which is the default.
            idle_timeout: Seconds without a sign of life from the sandbox; 0 = no limit.
            request_timeout: Seconds the start may take; 0 = no limit.
            check: ``wait`` raises CommandExitError for an exit other than 0.
            retain_output: Keep the output for the result; callbacks get it anyway.
            on_start: Gets the pid.
            on_stdout: Gets text, in whole characters.
            on_stderr: The same of stderr.
            on_stdout_bytes: Gets bytes as they come.
            on_stderr_bytes: The same of stderr.
            on_data: Gets what a terminal shows, as bytes.

        Raises:
            ExecutionError: E3000, when there is no such process.
        """
        callbacks = Callbacks(
            start=on_start,
            stdout=on_stdout,
            stderr=on_stderr,
            stdout_bytes=on_stdout_bytes,
            stderr_bytes=on_stderr_bytes,
            pty=on_data,
        )
        wire = commands_connect_params(
            pid, tag=tag, timeout=timeout, idle_timeout=idle_timeout, request_timeout=request_timeout, check=check
        )
        return CommandHandle(self, await self._start("commands.connect", wire, callbacks, retain_output))

    async def send_stdin(
        self,
        pid: int | None = None,
        data: str | bytes = b"",
        *,
        tag: str | None = None,
        request_timeout: float | None = None,
    ) -> None:
        """Writes to a command's stdin, which must have been left open.

        Args:
            pid: Its process id; either this or ``tag``.
            data: Text goes as UTF-8.
            tag: The name that it was started with.
            request_timeout: Seconds until the head of an answer; 0 = no limit.

        Raises:
            ExecutionError: E3000, when it does not run, or was started with stdin off.
        """
        wire = commands_send_stdin_params(pid, tag=tag)
        for piece in pieces_of(data):
            await self._send("commands.send_stdin", wire, piece, request_timeout)

    async def stream_stdin(self, pid: int | None, pieces: AsyncIterable[bytes], *, tag: str | None = None) -> None:
        """Writes pieces to a command's stdin as they come, in one call.

        Args:
            pid: Its process id; either this or ``tag``.
            pieces: Read as fast as the sandbox takes them.
            tag: The name that it was started with.

        Raises:
            ExecutionError: E3000, when it does not run, or was started with stdin off.
        """
        await self._stream("commands.stream_stdin", commands_stream_stdin_params(pid, tag=tag), pieces)

    async def _write_to(self, pid: int, data: str | bytes) -> None:
        await self.send_stdin(pid, data)

    async def _end_of(self, pid: int) -> None:
        await self.close_stdin(pid)


def _line(command: Any) -> tuple[str | None, Sequence[str] | None]:
    """Shell text, or a list of arguments."""
    if isinstance(command, str):
        return command, None
    given = type(command).__name__
    if isinstance(command, Iterable) and not isinstance(command, (bytes, bytearray)):
        argv = list(command)
        astray = [type(argument).__name__ for argument in argv if not isinstance(argument, str)]
        if not astray:
            return None, argv
        given += f" with {astray[0]}"
    from .._generated.errors import InvalidArgumentError

    words = f"command must be text, or a list of texts, not {given}"
    raise InvalidArgumentError(words, option="command")
