"""A command that runs in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from .._engine import frame
from .._engine.async_process import AsyncProcess
from .._engine.callbacks import new_decoder
from ..result import CommandResult, Output

if TYPE_CHECKING:
    from .commands import Commands
    from .pty import Pty

_STREAMS = {frame.STDOUT: "stdout", frame.STDERR: "stderr", frame.PTY: "pty"}


class CommandHandle:
    """A command that is followed. It runs on when the handle is forgotten.

    Iterating gives its output from the start, as :class:`Output`, and ends with the command. When its
    output is not retained, it waits until it is read, and each piece is given once.
    """

    def __init__(self, commands: Commands | Pty, process: AsyncProcess) -> None:
        self._commands = commands
        self._process = process

    def __repr__(self) -> str:
        return f"{type(self).__name__}(pid={self.pid}, exit_code={self.exit_code})"

    @property
    def pid(self) -> int:
        """The process's number inside the sandbox."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """128+n when killed by signal n; None while it runs."""
        end = self._process.end()
        return None if end is None else int(end["exit_code"])

    @property
    def stdout(self) -> str:
        """The output so far, as text."""
        return b"".join(self._process.kept(frame.STDOUT)).decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        """The error output so far, as text."""
        return b"".join(self._process.kept(frame.STDERR)).decode("utf-8", "replace")

    async def wait(self) -> CommandResult:
        """Waits for the end. Cancelling only ends the waiting.

        Raises:
            CommandExitError: E3002, when it was started with ``check``.
            ConnectionLostError: E3005, the outcome is not known.
            CancelledOperationError: E5006, after ``disconnect``.
            BaseException: Whatever a callback raised.
        """
        return await self._process.wait()

    async def kill(self) -> bool:
        """Ends it with SIGKILL; false when it had ended."""
        return await self._commands.kill(self.pid)

    def disconnect(self) -> None:
        """Stops following it; it runs on. No callback begins after this returns."""
        self._process.disconnect()

    async def send_stdin(self, data: str | bytes) -> None:
        """Writes to its stdin, which must have been left open.

        Args:
            data: Text goes as UTF-8.
        """
        await self._commands._write_to(self.pid, data)

    async def close_stdin(self) -> None:
        """Ends its stdin."""
        await self._commands._end_of(self.pid)

    async def __aiter__(self) -> AsyncIterator[Output]:
        decoders = {channel: new_decoder() for channel in _STREAMS}
        async for channel, data in self._process:
            yield Output(_STREAMS[channel], data, decoders[channel].decode(data))
        for channel, decoder in decoders.items():
            text = decoder.decode(b"", True)
            if text:
                yield Output(_STREAMS[channel], b"", text)
        self._process.failed()
