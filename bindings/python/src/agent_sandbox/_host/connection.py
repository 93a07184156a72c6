"""One connection that speaks HTTP/1.1."""

from __future__ import annotations

import asyncio
import os
import select
from typing import TYPE_CHECKING

from .address import Address, is_localhost
from .closed import Ours, close_socket
from .exchange import Exchange
from .failure import CONNECT, NetFailure
from .proxy import Proxy

if TYPE_CHECKING:
    from .pool import Pool

_READ = 256 << 10
_HIGH_WATER = 512 << 10  # bytes that wait to be sent before an upload pauses

Key = tuple[bool, str, int, "Proxy | None"]


class Connection(Ours, asyncio.BufferedProtocol):
    """Serves one exchange after another, never two at a time."""

    def __init__(self, pool: Pool, key: Key) -> None:
        self.key = key
        self.full = False
        """Whether enough bytes wait to be sent."""
        self.idle_since = 0.0
        self._pool = pool
        self._transport: asyncio.Transport | None = None
        self._lowest: asyncio.BaseTransport | None = None
        self._exchange: Exchange | None = None
        self._used = False
        self._reused = False
        self._paused = False
        self._lost = False
        self._poll: select.poll | None = None
        self._buffer: memoryview | None = None
        self._placed = False  # the last buffer was the exchange's

    # What exchanges and the pool call:

    def opened(self, transport: asyncio.Transport) -> None:
        """It is ready for requests over this transport. Fails when it has ended already."""
        if self._lost:
            raise NetFailure(CONNECT, "the peer closed the connection at once")
        self._transport = transport
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        self._pool.add(self)

    def begin(self, exchange: Exchange) -> None:
        """Gives it to an exchange."""
        self._reused, self._used = self._used, True
        self._exchange = exchange
        exchange.begin(self)

    @property
    def usable(self) -> bool:
        """Whether neither end has closed an idle connection, as far as the system knows."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return False
        return not self._readable(transport)

    def release(self, keep: bool) -> None:
        """The exchange is over. Kept is only what can serve another one."""
        self._exchange = None
        transport = self._transport
        if transport is None:
            return
        self.resume()
        if keep and not transport.is_closing() and not transport.get_write_buffer_size():
            self._pool.put(self)
        else:
            self.abort()

    def abort(self) -> None:
        """Closes it at once."""
        self._exchange = None
        if self._transport:
            self._transport.abort()

    def abandon(self) -> None:
        """The loop is closed."""
        self._exchange = None
        close_socket(self._transport)

    def pause(self) -> None:
        """Reads no more."""
        if self._transport and not self._paused and not self._transport.is_closing():
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        """Reads again."""
        if self._transport and self._paused:
            self._paused = False
            if not self._transport.is_closing():
                self._transport.resume_reading()

    def write(self, pieces: tuple[bytes | memoryview, ...]) -> None:
        """Sends bytes."""
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        # Not writelines: before Python 3.13.2 it never said that enough bytes wait.
        transport.write(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def _readable(self, transport: asyncio.Transport) -> bool:
        """Whether something waits to be read: of an idle connection, mostly its end,
        which the loop has not come to yet.
        """
        if not hasattr(select, "poll"):
            return False
        if self._poll is None:
            sock = transport.get_extra_info("socket")
            if sock is None:
                return False
            self._poll = select.poll()
            self._poll.register(sock.fileno(), select.POLLIN)
        return bool(self._poll.poll(0))

    # What asyncio calls:

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._lowest = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        place = self._exchange.place() if self._exchange else None
        self._placed = place is not None
        if place is not None:
            return place
        if self._buffer is None:
            self._buffer = memoryview(bytearray(_READ))
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        if not self._exchange:
            self.abort()  # nobody asked for anything
        elif self._placed:
            self._exchange.placed(nbytes)
        elif self._buffer is not None:
            self._exchange.received(self._buffer[:nbytes])

    def eof_received(self) -> bool:
        self._end(None)
        self.abort()
        return False

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        if self._exchange:
            self._exchange.room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        try:
            if exc and self._exchange:
                self._read_rest()
            self._end(exc)
        finally:
            self._pool.remove(self)
            self._transport = self._lowest = None

    def _end(self, error: BaseException | None) -> None:
        exchange, reused = self._exchange, self._reused
        if exchange:
            exchange.ended(error, reused)

    def _read_rest(self) -> None:
        """A peer that answers early and closes makes sending fail, upon which asyncio
        gives up a connection whose answer still waits to be read.
        """
        transport = self._transport
        if transport is None or transport is not self._lowest:
            return  # inside TLS nothing can be read any more
        if type(transport).__module__ != "asyncio.selector_events":
            return  # another loop may have closed the descriptor by now
        descriptor = transport.get_extra_info("socket").fileno()
        while self._exchange:
            try:
                data = os.read(descriptor, _READ)
            except OSError:
                return
            if not data:
                return
            self._exchange.received(data)


def key_of(address: Address, proxy: Proxy | None) -> Key:
    """What connections are shared by.

    Every name below localhost is one server, and the Host header says which
    sandbox is meant: a new sandbox costs no new connection.
    """
    if proxy and not address.secure:
        return False, "", 0, proxy  # the proxy takes requests for any peer
    host = "localhost" if not address.secure and is_localhost(address.host) else address.host
    return address.secure, host, address.port, proxy
