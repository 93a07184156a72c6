"""HTTP/1.1 on one event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from .address import Address
from .closed import put_away
from .connection import Connection, key_of
from .dial import Dialler, response_parser
from .events import Events, SocketEvents
from .exchange import Exchange
from .failure import CONNECT, NetFailure
from .pool import Pool
from .proxy import Proxies, Proxy
from .request import Request
from .socket import SCHEMES, Socket
from .trust import Trust
from .upload import Body, upload

_TURNS = 4  # of the loop, until a transport that was given up half made has closed


class Http:
    """Sends requests over kept connections. One for each event loop; ``aclose`` it
    before the loop ends.

    ``proxy`` is a URL, ``direct`` for none, None for what the environment says;
    ``ca_file`` is a PEM file of authorities to trust besides the system's, None
    for SSL_CERT_FILE. Nothing is dialled or read before the first request.
    """

    def __init__(self, *, proxy: str | None, ca_file: str | None, environ: Mapping[str, str]) -> None:
        self._proxies = Proxies(proxy, environ)
        self._dialler = Dialler(Trust(ca_file, environ))
        self._pool = Pool()
        self._live: set[Exchange | Socket] = set()
        self._sockets: set[Socket] = set()  # with a connection
        self._tasks: set[asyncio.Task[None]] = set()
        self._parser: Any = None
        self._closed = False

    def request(self, method: str, url: str, headers: list[tuple[str, str]], body: Body, events: Events) -> Exchange:
        """Starts an exchange. Redirects are not followed, and no header is added but
        what HTTP itself needs. Everything that goes wrong comes to ``events``, later.
        """
        self.parser()  # a parser that is missing is known before anything is sent
        exchange = Exchange(self, events)
        self._live.add(exchange)
        try:
            self._check_open()
            request = Request(method, url, headers, ("http", "https"))
            request.proxy = self._proxies.of(request.address)
        except NetFailure as failure:
            self.soon(exchange.fail, failure)
            return exchange
        exchange.prepare(request, upload(body))
        connection = self._pool.take(key_of(request.address, request.proxy), request.repeatable)
        if connection:
            connection.begin(exchange)
        else:
            self._make(exchange, partial(self._connect, exchange, request))
        return exchange

    def dial(
        self, url: str, headers: list[tuple[str, str]], subprotocols: list[str], max_message: int, events: SocketEvents
    ) -> Socket:
        """Opens a WebSocket. ``max_message`` is the longest message that is taken, in
        bytes, 0 for any. Everything that goes wrong comes to ``events``, later.
        """
        socket = Socket(self, events)
        self._live.add(socket)
        try:
            self._check_open()
            address = Address(url, SCHEMES)
            socket.prepare(address, headers, subprotocols, max_message)
            proxy = self._proxies.of(address)
        except NetFailure as failure:
            self.soon(socket.fail, failure)
            return socket
        self._make(socket, partial(self._open, socket, address, proxy))
        return socket

    async def aclose(self) -> None:
        """Aborts what is under way, without a word to its events, and closes every
        connection. It is idempotent.
        """
        self._closed = True
        for one in list(self._live):
            one.abort()
        for task in list(self._tasks):
            task.cancel()
        while self._tasks:
            await asyncio.wait(list(self._tasks))
        for socket in list(self._sockets):
            socket.abort()
        while self._sockets:
            await asyncio.sleep(0)
        await self._pool.close()
        for _ in range(_TURNS):
            await asyncio.sleep(0)

    def abandon(self) -> None:
        """The loop was closed with this still open: closes every connection, without a word to
        anybody.
        """
        self._closed = True
        for one in list(self._live):
            one.abandon()
        for task in list(self._tasks):
            put_away(task)
        for socket in list(self._sockets):
            socket.abandon()
        self._pool.abandon()

    def busy(self) -> bool:
        """Whether anything is under way."""
        return bool(self._live or self._tasks or self._sockets)

    def _check_open(self) -> None:
        if self._closed:
            raise NetFailure(CONNECT, "the client was closed")

    def _make(self, one: Exchange | Socket, work: Callable[[], Coroutine[Any, Any, None]], again: int = 3) -> None:
        """Makes a connection in a task. Whoever ends the loop cancels every task of it,
        and what is done after that, such as killing what was half made, still needs
        its connections: then the work begins anew.
        """

        def cancelled() -> None:
            one.dialling(None)
            if not one.live:
                return
            if again and not self._closed:
                self._make(one, work, again - 1)
            else:
                one.fail(NetFailure(CONNECT, "the event loop ended"))

        one.dialling(self.spawn(work(), cancelled))

    async def _connect(self, exchange: Exchange, request: Request) -> None:
        connection = Connection(self._pool, key_of(request.address, request.proxy))
        try:
            connection.opened(await self._dialler.dial(request.address, request.proxy, connection))
        except NetFailure as failure:
            exchange.dialling(None)
            exchange.fail(failure)
        else:
            exchange.dialling(None)
            if exchange.live:
                connection.begin(exchange)
            else:
                connection.abort()

    async def _open(self, socket: Socket, address: Address, proxy: Proxy | None) -> None:
        try:
            transport = await self._dialler.dial(address, proxy, socket)
        except NetFailure as failure:
            socket.dialling(None)
            socket.fail(failure)
        else:
            socket.dialling(None)
            socket.begin(transport)

    # What exchanges and sockets call:

    def parser(self) -> Any:
        """The class that parses answers, imported at the first one."""
        if self._parser is None:
            self._parser = response_parser()
        return self._parser

    def spawn(self, work: Coroutine[Any, Any, None], cancelled: Callable[[], None]) -> asyncio.Task[None]:
        """Runs work that ends with this object. ``cancelled`` is called when somebody
        cancels it, even before it began.
        """

        def done(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                cancelled()

        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(done)
        return task

    def soon(self, call: Callable[..., None], *args: Any) -> None:
        """Calls from the loop, later."""
        asyncio.get_running_loop().call_soon(call, *args)

    def forget(self, one: Exchange | Socket) -> None:
        """An exchange or a socket is over."""
        self._live.discard(one)

    def socket_opened(self, socket: Socket) -> None:
        """A socket has a connection."""
        self._sockets.add(socket)

    def socket_lost(self, socket: Socket) -> None:
        """A socket's connection has ended."""
        self._sockets.discard(socket)
