"""A WebSocket of an operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import frame
from .json import encode

if TYPE_CHECKING:
    from .operation import Operation


class WebSocket:
    """Takes the events of a socket (see _host/events.py)."""

    def __init__(self, operation: Operation, stream: int) -> None:
        self._operation = operation
        self._stream = stream
        self._socket: Any = None

    def start(self, order: dict[str, Any]) -> None:
        """Dials."""
        http = self._operation.driver.http(*self._operation.transport)
        headers = [(name, value) for name, value in order.get("headers") or []]
        self._socket = http.dial(
            order["url"], headers, order.get("subprotocols") or [], int(order.get("max_message") or 0), self
        )

    def take(self, kind: int, payload: bytes) -> None:
        """Sends a message."""
        if kind == frame.SEND_TEXT:
            self._socket.send_text(payload)
        else:
            self._socket.send_binary(payload)

    def close(self) -> None:
        """The core wants no more."""
        if self._socket is not None:
            self._socket.close()

    def pause(self) -> None:
        """Reads no further."""
        self._socket.pause()

    def resume(self) -> None:
        """Reads on."""
        self._socket.resume()

    def loose_end(self) -> tuple[int, bytes]:
        """The connection is gone."""
        return frame.WS_CLOSED, encode({"kind": "reset", "host": "", "message": "the event loop has ended"})

    # Events of the socket.

    def opened(self, subprotocol: str) -> None:
        """It is open."""
        self._operation.feed(self._stream, frame.WS_OPEN, subprotocol.encode())

    def text(self, message: bytes) -> None:
        """A text message."""
        self._operation.feed(self._stream, frame.WS_TEXT, message)

    def binary(self, message: bytes) -> None:
        """A binary message."""
        self._operation.feed(self._stream, frame.WS_BINARY, message)

    def closed(self, failure: tuple[str, str, str] | None) -> None:
        """It ended."""
        payload = b""
        if failure is not None:
            payload = encode(dict(zip(("kind", "host", "message"), failure, strict=True)))
        self._operation.over(self._stream)
        self._operation.feed(self._stream, frame.WS_CLOSED, payload)

    def flush(self) -> None:
        """Nothing more is at hand: cross."""
        self._operation.driver.flush()
