"""Waiting for an operation in asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from .driver import CLEANUP_CLOCK
from .operation import Operation
from .outcome import cancelled, outcome


async def until(operation: Operation, waiting: str, ready: Callable[[], object]) -> None:
    """Waits for a change until ``ready`` says so; ``waiting`` names the list of those who wait."""
    loop = operation.driver.loop
    while not ready():
        future: asyncio.Future[None] = loop.create_future()
        getattr(operation, waiting).append(lambda future=future: future.done() or future.set_result(None))
        await future


async def settled(operation: Operation) -> None:
    """Waits for the outcome. Whoever leaves before, cancels."""
    try:
        if operation.outcome is None:
            await until(operation, "settlers", lambda: operation.outcome)
    except BaseException as error:
        leave(operation, error)
        raise


def leave(operation: Operation, error: BaseException, output: bool = False) -> None:
    """The caller leaves by an exception: the remote side is told, without waiting. A CancelledError
    carries what there is to say, the output so far included, as ``sandbox_error``."""
    if isinstance(error, asyncio.CancelledError):
        error.sandbox_error = cancelled(operation, output)  # type: ignore[attr-defined]
    operation.discard()  # whoever has the error has the operation as well, through its traceback
    if not isinstance(error, GeneratorExit) or not operation.driver.loop.is_closed():
        operation.cancel()


async def told(operation: Operation) -> None:
    """Waits until the remote side knows that the caller left, for at most the cleanup clock."""
    ended = asyncio.ensure_future(until(operation, "enders", lambda: operation.done))
    try:
        await asyncio.wait([ended], timeout=CLEANUP_CLOCK)
    finally:
        ended.cancel()


async def value(operation: Operation) -> Any:
    """Waits for the result. Raises the operation's error."""
    await settled(operation)
    return outcome(operation)
