"""A command that runs in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable  # noqa: F401 (of the twin)
from typing import Any  # noqa: F401 (of the twin)

from ..._async.handle import CommandHandle as Own
from ..._async.pty import Pty
from ..exceptions import of_process
from ..result import CommandResult, checked, exit_code_of


class AsyncCommandHandle:
    """A command that is followed. It runs on when the handle is forgotten."""

    def __init__(self, own: Own, retained: bool) -> None:
        self._own = own
        self._retained = retained
        self._output = self._pieces()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(pid={self.pid}, exit_code={self.exit_code})"

    @property
    def pid(self) -> int:
        """The process's number inside the sandbox."""
        return self._own.pid

    @property
    def stdout(self) -> str | None:
        """The output so far; None when it is not retained."""
        return self._own.stdout if self._retained else None

    @property
    def stderr(self) -> str | None:
        """The error output so far; None when it is not retained."""
        return self._own.stderr if self._retained else None

    @property
    def exit_code(self) -> int | None:
        """None while it runs; -1 when a signal killed it."""
        end = self._own._process.end()
        return None if end is None else exit_code_of(int(end["exit_code"]), end.get("signal"))

    @property
    def error(self) -> str | None:
        """The sandbox's words about the end, if any."""
        end = self._own._process.end()
        return None if end is None else end.get("error")

    # async only
    async def wait(self) -> CommandResult:
        """Waits for the end.

        Raises:
            CommandExitException: It did not exit with 0.
            TimeoutException: It ran out of time.
        """
        with of_process():
            return checked(await self._own.wait(), self._retained)

    # sync: def wait(
    # sync:     self,
    # sync:     on_pty: Callable[[bytes], Any] | None = None,
    # sync:     on_stdout: Callable[[str], Any] | None = None,
    # sync:     on_stderr: Callable[[str], Any] | None = None,
    # sync: ) -> CommandResult:
    # sync:     """Waits for the end, and calls the callbacks with what is written until then.
    # sync:
    # sync:     Raises:
    # sync:         CommandExitException: It did not exit with 0.
    # sync:         TimeoutException: It ran out of time.
    # sync:     """
    # sync:     if on_pty or on_stdout or on_stderr:
    # sync:         for stdout, stderr, pty in self:
    # sync:             if stdout is not None and on_stdout:
    # sync:                 on_stdout(stdout)
    # sync:             elif stderr is not None and on_stderr:
    # sync:                 on_stderr(stderr)
    # sync:             elif pty is not None and on_pty:
    # sync:                 on_pty(pty)
    # sync:     with of_process():
    # sync:         return checked(self._own.wait(), self._retained)
    # sync:
    # end
    async def kill(self) -> bool:
        """Ends it with SIGKILL; False when it had ended."""
        with of_process():
            return await self._own.kill()

    async def disconnect(self) -> None:
        """Stops following it; it runs on."""
        self._own.disconnect()

    async def send_stdin(self, data: str | bytes, request_timeout: float | None = None) -> None:
        """Writes to its stdin, which ``stdin=True`` has left open, or types into the terminal."""
        controls = self._own._commands
        with of_process():
            if isinstance(controls, Pty):
                await controls.send_input(self.pid, data, request_timeout=request_timeout)
            else:
                await controls.send_stdin(self.pid, data, request_timeout=request_timeout)

    async def close_stdin(self, request_timeout: float | None = None) -> None:
        """Ends its stdin."""
        controls = self._own._commands
        with of_process():
            if isinstance(controls, Pty):
                await controls.send_input(self.pid, b"\x04", request_timeout=request_timeout)
            else:
                await controls.close_stdin(self.pid, request_timeout=request_timeout)

    def __aiter__(self) -> AsyncIterator[tuple[str | None, str | None, bytes | None]]:
        """Its output, piece by piece: text of stdout, text of stderr, or bytes of a terminal; each once."""
        return self._output

    async def _pieces(self) -> AsyncIterator[tuple[str | None, str | None, bytes | None]]:
        with of_process():
            async for output in self._own:
                if output.stream == "pty":
                    if output.data:
                        yield None, None, output.data
                elif output.text:
                    yield (output.text, None, None) if output.stream == "stdout" else (None, output.text, None)
