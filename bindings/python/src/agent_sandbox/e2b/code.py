"""What a run of code gives, by E2B's names."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from .. import execution as own
from .._generated.types import CodeContext as Context
from .._generated.types import CodeError
from ..execution import Result

__all__ = [
    "Context",
    "Execution",
    "ExecutionError",
    "Logs",
    "MIMEType",
    "OutputHandler",
    "OutputMessage",
    "Result",
    "RunCodeLanguage",
]

RunCodeLanguage = Literal["python", "javascript", "typescript", "r", "java", "bash"] | str
OutputHandler = Callable[[Any], Any]


class MIMEType(str):
    """The name of a form."""


class ExecutionError(CodeError):
    """What code raised."""

    __slots__ = ()

    def __init__(self, name: str, value: str, traceback: str, **more: Any) -> None:
        super().__init__(name=name, value=value, traceback=traceback)

    def to_json(self) -> str:
        """As a JSON object."""
        return json.dumps({"name": self.name, "value": self.value, "traceback": self.traceback})


class Logs(own.Logs):
    """What code printed."""

    __slots__ = ()

    def to_json(self) -> str:
        """As a JSON object."""
        return json.dumps({"stdout": self.stdout, "stderr": self.stderr})


class Execution(own.Execution):
    """What one run of code gave."""

    __slots__ = ()

    def to_json(self) -> str:
        """As a JSON object, in which ``logs`` and ``error`` are JSON texts."""
        error = None if self.error is None else error_of(self.error).to_json()
        logs = Logs(self.logs.stdout, self.logs.stderr).to_json()
        return json.dumps({"results": [_forms(one) for one in self.results], "logs": logs, "error": error})


def _forms(result: Result) -> dict[str, Any]:
    return {**{name: result[name] for name in result.formats()}, "text": result.text}


class OutputMessage:
    """A piece of what code printed.

    Attributes:
        line: The text.
        timestamp: When it came here, in nanoseconds since 1970.
        error: Whether it is stderr's.
    """

    def __init__(self, line: str, timestamp: int, error: bool = False) -> None:
        self.line = line
        self.timestamp = timestamp
        self.error = error

    def __str__(self) -> str:
        return self.line

    def __repr__(self) -> str:
        return f"OutputMessage(line={self.line!r}, timestamp={self.timestamp}, error={self.error})"


def execution_of(given: own.Execution) -> Execution:
    """The same by E2B's names."""
    logs = Logs(given.logs.stdout, given.logs.stderr)
    error = None if given.error is None else error_of(given.error)
    return Execution(given.results, logs, error, given.execution_count)


def error_of(given: CodeError) -> ExecutionError:
    """The same by E2B's name."""
    return ExecutionError(given.name, given.value, given.traceback)


def on_message(callback: OutputHandler | None) -> OutputHandler | None:
    """A callback for messages of E2B's kind."""
    if callback is None:
        return None
    return lambda message: callback(OutputMessage(message.line, _nanoseconds(message), message.error))


def on_error(callback: OutputHandler | None) -> OutputHandler | None:
    """A callback for errors of E2B's kind."""
    return None if callback is None else lambda error: callback(error_of(error))


def _nanoseconds(message: own.OutputMessage) -> int:
    return int(message.timestamp.timestamp() * 1_000_000) * 1000
