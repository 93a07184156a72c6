"""What a host tells its driver. All calls come on the event loop, in order, and
never from inside a call of the driver's own."""

from __future__ import annotations

from typing import Protocol


class Events(Protocol):
    """Takes what happens to one HTTP exchange: head, data, then end or error.

    What one read of the network brought comes in a row, closed by ``flush``.
    """

    def head(self, status: int, headers: list[tuple[str, str]]) -> None:
        """The head of the answer."""

    def data(self, chunk: bytes) -> None:
        """Bytes of the body, never empty, as large as they came."""

    def place(self, left: int) -> memoryview | None:
        """Where bytes of a body are read to of which ``left`` are still to come, at most so many; None
        to have them as ``data``."""

    def placed(self, count: int) -> None:
        """So many bytes came to the last place, in the stead of ``data``."""

    def end(self) -> None:
        """The body is complete. Nothing follows."""

    def error(self, kind: str, host: str, message: str) -> None:
        """The exchange failed. Nothing follows."""

    def wanted(self) -> None:
        """The connection takes one more piece of the request's body."""

    def flush(self) -> None:
        """Nothing more is at hand."""


class SocketEvents(Protocol):
    """Takes what happens to one WebSocket: opened, messages, closed."""

    def opened(self, subprotocol: str) -> None:
        """It is open, with the subprotocol that the peer chose; "" where it chose none."""

    def text(self, message: bytes) -> None:
        """A text message, in UTF-8."""

    def binary(self, message: bytes) -> None:
        """A binary message."""

    def closed(self, failure: tuple[str, str, str] | None) -> None:
        """It ended: None when normally, else kind, host and message. Nothing follows."""

    def flush(self) -> None:
        """Nothing more is at hand."""
