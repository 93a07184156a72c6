"""What hangs on an event loop that is closed: it can be asked for nothing, not even for an end."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any


def put_away(task: asyncio.Task[Any]) -> None:
    """Ends a task that will never run again, as if it had been forgotten, and without the complaint that
    it was."""
    if task.done():
        return
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    with suppress(BaseException):
        task.get_coro().close()


class Ours(asyncio.BaseProtocol):
    """Marks the protocols of this package."""


def close_sockets(loop: asyncio.AbstractEventLoop) -> None:
    """Closes those of our connections that are still being made: only the loop knows them."""
    transports = getattr(loop, "_transports", {})
    for transport in list(transports.values()):
        protocol = transport.get_protocol()
        if isinstance(getattr(protocol, "_app_protocol", protocol), Ours):
            close_socket(transport)


def close_socket(transport: asyncio.BaseTransport | None) -> None:
    """Closes the socket of a transport: by itself it would ask the loop for the last step."""
    if transport is None:
        return
    with suppress(RuntimeError):
        transport.abort()  # type: ignore[attr-defined]
    last_step = getattr(transport, "_call_connection_lost", None)
    if last_step is not None:
        with suppress(Exception):
            last_step(None)
