"""What a command leaves behind."""

from __future__ import annotations

from typing import Any


class CommandResult:
    """How a command ended, and what it wrote. A non-zero exit is a result, not an error.

    Attributes:
        exit_code: 128+n when killed by signal n; -1 when it is not known (in ``error.partial``).
        signal: ``killed``, ``terminated``, ...; None when it exited by itself.
        error: The sandbox's words about the end, if any.
        execution_time: From the call to the end, in seconds.
        stdout_bytes: What it wrote, exactly; empty when output was not retained.
        stderr_bytes: The same of stderr.
    """

    __slots__ = ("_stderr", "_stdout", "error", "execution_time", "exit_code", "signal", "stderr_bytes", "stdout_bytes")

    def __init__(
        self,
        *,
        stdout_bytes: bytes = b"",
        stderr_bytes: bytes = b"",
        exit_code: int,
        signal: str | None = None,
        error: str | None = None,
        execution_time: float = 0.0,
    ) -> None:
        self.stdout_bytes = stdout_bytes
        self.stderr_bytes = stderr_bytes
        self.exit_code = exit_code
        self.signal = signal
        self.error = error
        self.execution_time = execution_time
        self._stdout: str | None = None
        self._stderr: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.exit_code == 0 and self.signal is None

    @property
    def stdout(self) -> str:
        """What it wrote, as text; broken UTF-8 becomes U+FFFD."""
        if self._stdout is None:
            self._stdout = self.stdout_bytes.decode("utf-8", "replace")
        return self._stdout

    @property
    def stderr(self) -> str:
        """What it wrote to stderr, as text."""
        if self._stderr is None:
            self._stderr = self.stderr_bytes.decode("utf-8", "replace")
        return self._stderr

    def __repr__(self) -> str:
        signal = f", signal={self.signal!r}" if self.signal else ""
        return (
            f"CommandResult(exit_code={self.exit_code}{signal}, "
            f"stdout={_short(self.stdout_bytes)}, stderr={_short(self.stderr_bytes)})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CommandResult):
            return NotImplemented
        return self._key() == other._key()

    __hash__ = None  # type: ignore[assignment]

    def _key(self) -> tuple[Any, ...]:
        return (self.exit_code, self.signal, self.error, self.stdout_bytes, self.stderr_bytes)


_SHOWN = 200


def _short(data: bytes) -> str:
    text = repr(data[:_SHOWN].decode("utf-8", "replace"))
    return text if len(data) <= _SHOWN else f"{text}... ({len(data)} bytes)"


class Output:
    """A piece of output of a running process.

    Attributes:
        stream: ``stdout``, ``stderr`` or ``pty``.
        data: The bytes.
        text: The same as text, in whole characters: a character that is cut waits for its rest.
    """

    __slots__ = ("data", "stream", "text")

    def __init__(self, stream: str, data: bytes, text: str) -> None:
        self.stream = stream
        self.data = data
        self.text = text

    def __repr__(self) -> str:
        return f"Output({self.stream!r}, {_short(self.data)})"
