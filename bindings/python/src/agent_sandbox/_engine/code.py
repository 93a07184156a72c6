"""Puts together what a run of code gives, and says who is to be called with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from json import loads
from typing import Any

from .._generated.convert import read_maybe
from .._generated.errors import InvalidArgumentError, error_from_json
from .._generated.types import CodeContext, read_code_error
from ..execution import Execution, Logs, OutputMessage, Result, messages
from . import frame
from .json import decode
from .operation import Operation

Callback = Callable[[Any], Any]


class Gathering:
    """Keeps what code gives. ``stdout`` and ``stderr`` are called with an OutputMessage, ``result`` with a Result,
    ``error`` with a CodeError."""

    def __init__(self, **callbacks: Callback | None) -> None:
        for name, callback in callbacks.items():
            if callback is not None and not callable(callback):
                raise TypeError(f"on_{name} must be callable, not {type(callback).__name__}")
        self._callbacks = callbacks
        self._results: list[Result] = []
        self._logs = Logs()
        self._pieces: list[bytes] = []

    def __bool__(self) -> bool:
        return any(callback is not None for callback in self._callbacks.values())

    def started(self, pid: int | None) -> Iterator[tuple[Callback, Any]]:
        """Nothing is due at the start."""
        return iter(())

    def due(self, channel: int, block: bytes) -> Iterator[tuple[Callback, Any]]:
        """Keeps a block; what is due with it."""
        if channel == frame.MESSAGES:
            return self._printed(block)
        if channel == frame.EVENT:
            return self._happened(decode(block))
        self._pieces.append(block)
        return iter(())

    def _printed(self, block: bytes) -> Iterator[tuple[Callback, Any]]:
        logs = (self._logs.stdout, self._logs.stderr)
        on = (self._callbacks["stdout"], self._callbacks["stderr"])
        for text, error in messages(block):
            logs[error].append(text)
            callback = on[error]
            if callback is not None:
                yield callback, OutputMessage(text, error)

    def _happened(self, event: dict[str, Any]) -> Iterator[tuple[Callback, Any]]:
        kind, value = event["kind"], None
        if kind == "result":
            value = Result(loads(b"".join(self._pieces).decode("utf-8", "replace")))
            self._pieces = []
            self._results.append(value)
        callback = self._callbacks.get(kind)
        if callback is not None:
            yield callback, value or read_code_error(event["error"])

    def last(self) -> Iterator[tuple[Callback, Any]]:
        """Nothing is due at the end."""
        return iter(())

    def outcome(self, operation: Operation) -> Execution:
        """What a settled operation has come to. Raises its error, with what came so far."""
        for channel, block in operation.blocks:
            for _ in self.due(channel, block):
                pass
        operation.blocks.clear()
        if operation.raised is not None:
            raise operation.raised
        assert operation.outcome is not None
        kind, payload = operation.outcome
        value = decode(payload)
        if kind == frame.RESULT:
            return self._execution(value)
        raise error_from_json(value, partial=self._execution(value.get("partial") or {}))

    def _execution(self, end: dict[str, Any]) -> Execution:
        error = read_maybe(end.get("error"), read_code_error)
        return Execution(self._results, self._logs, error, end.get("execution_count"))


def checked(code: str) -> str:
    """The code; no other type can be run, nor is it no code at all."""
    if not isinstance(code, str):
        raise InvalidArgumentError(f"code must be text, not {type(code).__name__}", option="code")
    return code


def context_id(context: CodeContext | str | None) -> str | None:
    """The id of a context, of which either is given."""
    named = context.id if isinstance(context, CodeContext) else context
    if named is not None and not isinstance(named, str):
        raise InvalidArgumentError("context must be a CodeContext, or its id", option="context")
    return named
