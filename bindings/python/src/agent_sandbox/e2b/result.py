"""How a command ended, as E2B says it."""

from __future__ import annotations

from .. import result as own


class CommandResult:
    """How a command ended, and what it wrote.

    Attributes:
        stderr: What it wrote to stderr; None when output was not retained.
        stdout: What it wrote to stdout; None when output was not retained.
        exit_code: -1 when a signal killed it.
        error: The sandbox's words about the end, if any.
    """

    stderr: str | None
    stdout: str | None
    exit_code: int
    error: str | None

    def __init__(self, stderr: str | None, stdout: str | None, exit_code: int, error: str | None = None) -> None:
        self.stderr = stderr
        self.stdout = stdout
        self.exit_code = exit_code
        self.error = error

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in ("stderr", "stdout", "exit_code", "error"))
        return f"{type(self).__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CommandResult):
            return NotImplemented
        return (self.stderr, self.stdout, self.exit_code, self.error) == (
            other.stderr,
            other.stdout,
            other.exit_code,
            other.error,
        )

    __hash__ = None  # type: ignore[assignment]


def exit_code_of(exit_code: int, signal: str | None) -> int:
    """The exit code as E2B gives it: -1 for a command that a signal killed."""
    return -1 if signal is not None else exit_code


def checked(ended: own.CommandResult, retained: bool) -> CommandResult:
    """The result, when it is 0. Raises CommandExitException otherwise."""
    stdout, stderr = (ended.stdout, ended.stderr) if retained else (None, None)
    code = exit_code_of(ended.exit_code, ended.signal)
    if code == 0:
        return CommandResult(stderr, stdout, code, ended.error)
    from .exceptions import CommandExitException

    raise CommandExitException(stderr, stdout, code, ended.error)
