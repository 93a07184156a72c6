"""WebSockets on one event loop, over the same dialling as HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .address import Address
from .answer import HEAD_LIMIT
from .closed import Ours, close_socket
from .failure import CONNECT, OTHER, RESET, NetFailure, lost, unusable
from .request import check

if TYPE_CHECKING:
    from .events import SocketEvents
    from .http import Http

SCHEMES = ("ws", "wss", "http", "https")
_NORMAL = (1000, 1005)  # a normal closure, or one without a code
_HIGH_WATER = 512 << 10
_OF_THE_HANDSHAKE = frozenset(
    ("host", "upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-protocol")
)


class Socket(Ours, asyncio.Protocol):
    """What the driver holds of a WebSocket. After its end every method does nothing."""

    def __init__(self, http: Http, events: SocketEvents) -> None:
        self._http = http
        self._events: SocketEvents | None = events
        self._address: Address | None = None
        self._dialling: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._protocol: Any = None
        self._parts: list[bytes] = []  # of a message that is not complete
        self._binary = False
        self._opened = False
        self._lost = False
        self._paused = False
        self._head = 0  # bytes of the handshake's answer

    # What the driver calls:

    def send_text(self, message: bytes) -> None:
        """Sends a text message, in UTF-8."""
        if self._opened and self._events:
            self._protocol.send_text(message)
            self._write()

    def send_binary(self, message: bytes) -> None:
        """Sends a binary message."""
        if self._opened and self._events:
            self._protocol.send_binary(message)
            self._write()

    def close(self) -> None:
        """Says goodbye without waiting for the answer. No event follows."""
        if self._settle() and self._opened and self._transport:
            self._protocol.send_close(1000)
            self._write()
            self._transport.close()
        self._hang_up(linger=self._opened)

    def pause(self) -> None:
        """Reads no more. What the last read brought may still come."""
        self._paused = True
        if self._transport and not self._transport.is_closing():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Reads again."""
        self._paused = False
        if self._transport and not self._transport.is_closing():
            self._transport.resume_reading()

    # What Http calls:

    def prepare(
        self, address: Address, headers: list[tuple[str, str]], subprotocols: list[str], max_message: int
    ) -> None:
        """Makes the handshake."""
        check(headers)
        self._address = address
        self._protocol, self._request = _handshake(address, headers, subprotocols, max_message)

    def dialling(self, task: asyncio.Task[None] | None) -> None:
        """A connection is being made by a task; None: no longer."""
        self._dialling = task

    @property
    def live(self) -> bool:
        """Whether events may still come."""
        return self._events is not None

    def begin(self, transport: asyncio.Transport) -> None:
        """Speaks over a connection."""
        if self._lost:
            self.fail(NetFailure(CONNECT, "the peer closed the connection at once"))
            return
        self._http.socket_opened(self)
        self._transport = transport
        if not self._events:
            transport.abort()
            return
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        if self._paused:
            transport.pause_reading()
        self._protocol.send_request(self._request)
        self._write()

    def abort(self) -> None:
        """Ends it at once. No event follows."""
        self._settle()
        self._hang_up(linger=False)

    def abandon(self) -> None:
        """The loop is closed. No event follows."""
        transport, self._events, self._dialling, self._transport = self._transport, None, None, None
        close_socket(transport)

    def fail(self, failure: NetFailure) -> None:
        """Ends it with a failure."""
        if self._address:
            failure = failure.at(self._address.peer)
        self._end((failure.kind, failure.host, failure.message))

    # What asyncio calls:

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Nothing yet: there may be TLS to come."""

    def data_received(self, data: bytes) -> None:
        if not self._events:
            return
        if not self._opened:
            self._head += len(data)
            if self._head > HEAD_LIMIT:
                self.fail(unusable("the answer to the handshake is too long"))
                return
        self._protocol.receive_data(data)
        self._write()
        self._news()

    def eof_received(self) -> bool:
        if self._events and self._protocol:
            self._protocol.receive_eof()
            self._news()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        if self._transport is None:
            return
        self._transport = None
        self._http.socket_lost(self)
        if self._events:
            self.fail(self._closure() or lost(exc))

    # Inside:

    def _write(self) -> None:
        """Sends what the protocol has to say."""
        for piece in self._protocol.data_to_send():
            if self._transport and not self._transport.is_closing():
                if piece:
                    self._transport.write(piece)
                else:
                    self._finish_writing()

    def _finish_writing(self) -> None:
        assert self._transport
        if self._transport.can_write_eof():
            self._transport.write_eof()

    def _news(self) -> None:
        """Tells the driver what came."""
        told = False
        for event in self._protocol.events_received():
            told = self._tell(event) or told
            if not self._events:
                return
        if self._opened and (failure := self._closure()):
            self.fail(failure)
        elif self._opened and self._protocol.close_rcvd is not None:
            self._end(None)
        elif not self._opened and self._protocol.handshake_exc is not None:
            self.fail(_refusal(self._protocol.handshake_exc))
        elif told and self._events:
            self._events.flush()

    def _tell(self, event: Any) -> bool:
        from websockets.frames import Frame, Opcode

        events = self._events
        if events is None:
            return False
        if not isinstance(event, Frame):  # the answer to the handshake
            if self._protocol.handshake_exc is not None:
                return False
            self._opened = True
            events.opened(self._protocol.subprotocol or "")
            return True
        if event.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return False
        if event.opcode is not Opcode.CONT:
            self._binary = event.opcode is Opcode.BINARY
        self._parts.append(bytes(event.data))
        if not event.fin:
            return False
        message, self._parts = b"".join(self._parts), []
        (events.binary if self._binary else events.text)(message)
        return True

    def _closure(self) -> NetFailure | None:
        """What is wrong with the way that the protocol ended; None when nothing is."""
        protocol = self._protocol
        if protocol is None or not self._opened:
            return None
        error = protocol.parser_exc
        if error is not None and not isinstance(error, EOFError):
            if type(error).__name__ == "PayloadTooBig":
                return NetFailure(OTHER, "the peer sent a message that is larger than the limit")
            return NetFailure(OTHER, "the peer broke the WebSocket protocol")
        received = protocol.close_rcvd
        if received is not None and received.code not in _NORMAL:
            return NetFailure(RESET, f"the peer closed the WebSocket: code {received.code}")
        if isinstance(error, EOFError):
            return lost(None)
        return None

    def _end(self, failure: tuple[str, str, str] | None) -> None:
        events = self._settle()
        self._hang_up(linger=failure is None)
        if events:
            events.closed(failure)
            events.flush()

    def _settle(self) -> SocketEvents | None:
        events, self._events = self._events, None
        self._http.forget(self)
        return events

    def _hang_up(self, linger: bool) -> None:
        if self._dialling:
            self._dialling.cancel()
            self._dialling = None
        transport = self._transport
        if transport is None:
            return
        if not linger:
            transport.abort()
        elif not transport.is_closing():  # once: TLS that was closed twice cannot be aborted in early 3.11
            transport.close()


def _handshake(
    address: Address, headers: list[tuple[str, str]], subprotocols: list[str], max_message: int
) -> tuple[Any, Any]:
    import logging

    from websockets.client import ClientProtocol
    from websockets.uri import WebSocketURI

    silent = logging.Logger("agent_sandbox.websocket")  # its debug lines would show tokens
    silent.disabled = True
    path, _, query = address.target.partition("?")
    uri = WebSocketURI(address.secure, address.host, address.port, path, query, None, None)
    offered: Any = subprotocols or None
    protocol = ClientProtocol(uri, subprotocols=offered, max_size=max_message or None, logger=silent)
    request = protocol.connect()
    for name, value in headers:
        lowered = name.lower()
        if lowered == "host":
            del request.headers["Host"]
            request.headers["Host"] = value
        elif lowered not in _OF_THE_HANDSHAKE:
            request.headers[name] = value
    return protocol, request


def _refusal(error: Exception) -> NetFailure:
    """Why there is no WebSocket after the handshake."""
    response = getattr(error, "response", None)
    if response is not None:
        return NetFailure(OTHER, f"the peer answered {response.status_code} instead of opening a WebSocket")
    if isinstance(error, EOFError) or isinstance(error.__cause__, EOFError):
        return lost(None)
    return NetFailure(OTHER, "the peer's answer to the handshake is no WebSocket's")
