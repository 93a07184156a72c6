"""What an operation has come to, as the caller gets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..result import CommandResult
from . import frame
from .json import decode

if TYPE_CHECKING:
    from .._generated.errors import SandboxError
    from .operation import Operation


def outcome(operation: Operation, output: bool = False) -> Any:
    """The result of an operation that is settled. Raises its error, with the output so far when it
    follows a process; or what the caller's own source or input raised."""
    if operation.raised is not None:
        raise operation.raised
    assert operation.outcome is not None
    kind, payload = operation.outcome
    value = decode(payload)
    if kind == frame.RESULT:
        return value
    raise failure(operation, value, output)


def failure(operation: Operation, value: dict[str, Any], output: bool) -> SandboxError:
    """The error of an operation."""
    from .._generated.errors import error_from_json

    partial = value.get("partial")
    if not output or (not isinstance(partial, dict) and not operation.pid):
        return error_from_json(value)
    return error_from_json(value, partial=result(operation, partial if isinstance(partial, dict) else {}))


def cancelled(operation: Operation, output: bool = False) -> SandboxError:
    """What there is to say about an operation that its caller left."""
    about: dict[str, Any] = {"code": "E5006", "message": "the caller cancelled"}
    if operation.pid:
        about["pid"] = operation.pid
    return failure(operation, about, output)


def result(operation: Operation, end: dict[str, Any]) -> CommandResult:
    """The result of a process: its end, and the output that was kept. Without an end the exit code
    is not known: -1, never 0."""
    return CommandResult(
        stdout_bytes=joined(operation, frame.STDOUT),
        stderr_bytes=joined(operation, frame.STDERR),
        exit_code=end.get("exit_code", -1),
        signal=end.get("signal"),
        error=end.get("error"),
        execution_time=end.get("execution_time_ms", 0) / 1000,
    )


def joined(operation: Operation, channel: int) -> bytes:
    """What was kept of a channel."""
    if operation.gathered is not None:
        return operation.gathered.of(channel)
    return b"".join([block for c, block in operation.blocks if c == channel])
